"""A service on a chain of real money pays for a registration and payments with its own sponsor, until a budget ends."""

import secrets
import threading
import time

import pytest
from tests.support.availability import needs_chain
from tests.support.chain_service import chain_service
from tests.support.operator import Operator

COAST = 4217
PAYEE = "0x00000000000000000000000000000000000000A1"
CHAIN_FILE = """
[[chain]]
id = {id}
name = "Coast"
rpc = "{rpc}"
bundler = "{bundler}"
tokens = {{ USDC = "{usdc}" }}
real_money = true
"""


@pytest.fixture
def coast(tmp_path):
    """A local chain that is said to have real money. It mines by itself: a commitment counts from the next block on."""
    (tmp_path / "chain").mkdir()
    with chain_service(tmp_path / "chain", served=False, chain_id=COAST) as chain:
        ended = threading.Event()

        def mine():
            while not ended.wait(0.5):
                chain.mine()

        mining = threading.Thread(target=mine)
        mining.start()
        yield chain
        ended.set()
        mining.join()


@pytest.fixture
def settings(coast, tmp_path):
    key, file = tmp_path / "sponsor.key", tmp_path / "chains.toml"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    file.write_text(CHAIN_FILE.format(id=COAST, rpc=coast.rpc_url, bundler=coast.bundler_url, usdc=coast.usdc))
    return {
        "rpc_url": coast.rpc_url, "chain_file": str(file), "chain": str(COAST), "sponsor_key": str(key),
        "sponsor_did_day": "0.02", "sponsor_contracts": "registry,usdc=0.0007,account", "sponsor_low": "0.05",
        "vault_dir": str(tmp_path / "vault"), "vault_password": "correct horse battery staple",
    }  # fmt: skip


@pytest.mark.soak
@needs_chain
def test_the_sponsor_pays_until_its_budget_ends(tmp_path, coast, settings, serve):
    operator = Operator(tmp_path / "data")

    def call(*words):
        return operator(*words, "--json", **settings)

    def done(*words):
        answer = call(*words)
        assert answer.code == 0, (words, answer)
        return answer.value

    found = call("sponsor", "status").value
    assert (found["deployed"], found["low"]) == (False, True)
    coast.fund(found["address"], 10**17)
    done("sponsor", "deploy", "--yes")
    done("sponsor", "deposit", "0.06", "--yes")
    assert done("sponsor", "balance")["deposit"] == "0.06 ETH"
    settings["service_url"] = serve(operator.data, **settings).url.replace("127.0.0.1", "localhost")
    account = done("vault", "create", "--password")["account"]
    done("register", "--handle", "ada-of-the-coast")
    assert coast.coin_of(account) == 0
    coast.give(account, 10**6)
    payments, told = pay_until_refused(call, coast)
    assert payments > 0
    assert "the sponsor's budget for calls to 0x" in told and "It is full again at 00:00 UTC" in told
    assert account in told  # where to send ETH instead
    assert coast.coin_of(PAYEE) == 0
    settled(call, coast)
    assert done("sponsor", "withdraw", "0.01", PAYEE, "--yes")["transaction"]
    assert coast.coin_of(PAYEE) == 10**16


def pay_until_refused(call, coast):
    """Return how many payments were made, and why the next one was not."""
    for made in range(20):
        answer = call("pay", PAYEE, str(1000 + made), "--token", coast.usdc, "--yes")
        if answer.code:
            return made, answer.err
    pytest.fail("the budget never ends")


def settled(call, coast):
    """Wait until everything is charged, and compare the charges with what left the deposit."""
    while (found := call("sponsor", "status").value)["open"]:
        time.sleep(1)
    budgets = {row["subject"]: float(row["spent"].split()[0]) for row in found["budgets"]}
    taken = 0.06 - float(found["deposit"].split()[0])
    commitments = 0.1 - 0.06 - float(found["coin"].split()[0])
    assert taken <= budgets["all"] <= taken + commitments
    assert budgets[f"contract {coast.usdc.lower()}"] < 0.0007
