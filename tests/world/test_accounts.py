import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.fake_transports import FakeTransport

from holdfast.chain.rpc import RpcClient
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address, keccak256
from holdfast.world.accounts import unlock
from holdfast.world.errors import NotALocalChain

LOCAL = {
    "web3_clientVersion": "anvil/v1.7.1",
    "eth_chainId": "0x14a34",
    "anvil_nodeInfo": {"forkConfig": {"forkUrl": None}},
}


async def ask(url, answers, started_as=None):
    return await unlock(RpcClient(url, FakeTransport(lambda method, params: answers[method])), url, started_as)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8545", "http://localhost:8545", "http://[::1]:8545"])
async def test_a_local_chain_gets_the_keys(url):
    accounts = await ask(url, LOCAL)
    for account in (accounts.tester, accounts.executor, accounts.utility, accounts.sponsor):
        public = PrivateKey(from_hex(account.private_key)).public_key.to_bytes()
        assert account.address == checksum_address(keccak256(public)[12:])


@pytest.mark.parametrize(
    ("url", "answers"),
    [
        ("https://sepolia.example", {}),
        ("http://127.0.0.1.example:8545", {}),
        ("http://192.168.1.2:8545", {}),
        ("", {}),
        ("http://127.0.0.1:8545", {"web3_clientVersion": "op-geth/anvil/"}),
        ("http://127.0.0.1:8545", {"eth_chainId": "0x1"}),
        ("http://127.0.0.1:8545", {"eth_chainId": "0x2105"}),
        ("http://127.0.0.1:8545", {"anvil_nodeInfo": {"forkConfig": {"forkUrl": "https://sepolia.example"}}}),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_any_other_chain_is_refused(url, answers):
    with pytest.raises(NotALocalChain):
        await ask(url, LOCAL | answers)


BASE = {"eth_chainId": "0x2105"}
FORK = {"anvil_nodeInfo": {"forkConfig": {"forkUrl": "https://base.example"}}}


async def test_the_id_of_a_public_chain_needs_its_starter():
    url = "http://127.0.0.1:8545"
    assert (await ask(url, LOCAL | BASE, 8453)).tester.address.startswith("0x")
    for answers, started_as in ((BASE, 1), (BASE | FORK, 8453), (BASE | {"web3_clientVersion": "Geth/v1.15"}, 8453)):
        with pytest.raises(NotALocalChain):
            await ask(url, LOCAL | answers, started_as)
