"""What is read of an account from its chain, also from an endpoint that lies (vectors/accounts/chain_reads.json)."""

import json
from dataclasses import astuple
from pathlib import Path

import pytest
from tests.support.fake_transports import FakeTransport

from holdfast.chain import account_reads
from holdfast.chain.account_reads import supporters_of
from holdfast.chain.errors import RpcError
from holdfast.chain.rpc import RpcClient


async def test_how_many_guardians_signed_a_recovery():
    def answer(method, _params):
        assert method == "eth_call"
        return "0x" + "".join(f"{number:064x}" for number in (1_800_000_000, 2, 3))

    assert await supporters_of(RpcClient("http://chain.invalid", FakeTransport(answer)), "0x" + "11" * 20) == 2


FILE = Path(__file__).resolve().parents[2] / "vectors/accounts/chain_reads.json"
CASES = json.loads(FILE.read_text().replace("$topic", "0x" + "dd" * 32))["cases"]
ACCOUNT = "0x" + "aa" * 20


async def _exists(chain):
    return bool(await chain.get_code(ACCOUNT))


async def _recovery(chain):
    found = await account_reads.recovery_of(chain, ACCOUNT)
    return found and [found.ready_at, found.supporters, found.new_owners]


async def _settings(chain):
    return list(astuple(await account_reads.settings_of(chain, ACCOUNT)))


async def _origin(chain):
    found = await account_reads.created_of(chain, ACCOUNT, ACCOUNT)
    return found and list(astuple(found))


READS = {
    "exists": _exists,
    "settings": _settings,
    "owners": lambda chain: account_reads.owners_of(chain, ACCOUNT),
    "guardians": lambda chain: account_reads.guardians_of(chain, ACCOUNT),
    "recovery": _recovery,
    "origin": _origin,
    "permissions": lambda chain: account_reads.permissions_of(chain, ACCOUNT),
    "history": lambda chain: account_reads.history_of(chain, ACCOUNT),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_whatever_an_endpoint_answers(case):
    chain = RpcClient("http://chain.invalid", FakeTransport(lambda method, _params: case["answers"][method]))
    if "result" in case:
        assert await READS[case["read"]](chain) == case["result"]
        return
    with pytest.raises(RpcError):
        await READS[case["read"]](chain)
