"""What is read of an account without a search of its chain's history, which many endpoints refuse."""

from tests.support.fake_transports import FakeTransport

from holdfast.chain.account_reads import supporters_of
from holdfast.chain.rpc import RpcClient


async def test_how_many_guardians_signed_a_recovery():
    def answer(method, _params):
        assert method == "eth_call"
        return "0x" + "".join(f"{number:064x}" for number in (1_800_000_000, 2, 3))

    assert await supporters_of(RpcClient("http://chain.invalid", FakeTransport(answer)), "0x" + "11" * 20) == 2
