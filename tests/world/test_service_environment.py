from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.chain.contracts import ADDRESSES
from holdfast.service.settings.chains import served_chains
from holdfast.service.settings.values import read_settings
from holdfast.world.service_process import service_environment

FAUCET = "http://127.0.0.1:1/faucet"


def world_of(chain_id, faucet):
    chain = SimpleNamespace(rpc_url="http://127.0.0.1:1", chain_id=chain_id)
    return SimpleNamespace(chain=chain, bundler_url="http://127.0.0.1:2", faucet_url=faucet)


def environment(**callers):
    return service_environment(world_of(84532, FAUCET), Path("/world"), 8787, callers)


CALLERS = (
    "MAX_REGISTRATIONS_PER_IP", "HOLDFAST_REGISTRATION_PROOF", "INNGEST_DEV", "EMAIL_CODE_EXPIRY_SECONDS",
    "RATE_LIMIT_CODES_PER_IDENTIFIER", "ATTESTATION_TTL_SECONDS",
)  # fmt: skip
WORLDS = (
    "HOLDFAST_RPC_URL", "HOLDFAST_BUNDLER_URL", "HOLDFAST_FAUCET_URL", "HOLDFAST_MAIL_URL", "HOLDFAST_SMS_URL",
    "HOLDFAST_HOST",
)  # fmt: skip
NOBODYS = (
    "ATTESTATION_SIGNING_KEY", "HOLDFAST_ENV", "HOLDFAST_DATABASE_URL", "HOLDFAST_ENCLAVE_URL", "HOLDFAST_INDEXER_URL",
    "AWS_SECRET_ACCESS_KEY",
)  # fmt: skip


@pytest.mark.parametrize("name", [*CALLERS, *WORLDS, *NOBODYS])
def test_what_the_world_decides_stays_decided_and_what_belongs_to_a_real_service_stays_outside(name):
    given = environment(**{name: "a caller's"})
    assert given.get(name) == ("a caller's" if name in CALLERS else environment()[name] if name in WORLDS else None)


def test_the_service_reads_every_setting():
    settings = read_settings(environment())
    assert (settings.rpc_url, settings.bundler_url) == ("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert (settings.mail_url, settings.sms_url, settings.data_dir) == ("outbox:", "outbox:", Path("/world"))


@pytest.mark.parametrize(("chain_id", "name", "test_money"), [(8453, "Base", False), (4217, "Local chain 4217", True)])
def test_a_world_with_another_id_describes_its_chain(tmp_path, chain_id, name, test_money):
    world = world_of(chain_id, faucet=None)
    given = service_environment(world, tmp_path / "data", 8787, {"HOLDFAST_FAUCET_URL": "https://elsewhere.example"})
    assert "HOLDFAST_FAUCET_URL" not in given, "this world has no faucet"
    main = served_chains(read_settings(given)).main
    assert (main.chain_id, main.name, main.test_money) == (chain_id, name, test_money)
    assert (main.rpc, main.bundler, main.usdc) == ("http://127.0.0.1:1", "http://127.0.0.1:2", ADDRESSES["DevUSDC"])
