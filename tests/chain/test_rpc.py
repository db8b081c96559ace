import asyncio
import math

import pytest
from tests.support import registration_receipts
from tests.support.fake_transports import FakeTransport, RawTransport

from holdfast.chain import jsonrpc, values
from holdfast.chain.errors import AnswerTooLarge, RpcError, TransportError
from holdfast.chain.rpc import MAX_IN_FLIGHT, RpcClient

ADDRESS = "0x" + "ab" * 20


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("holdfast.chain.rpc.RETRY_DELAYS_S", (0.0, 0.0))


def balances(method, params):
    return hex(int(params[0], 16) % 1000)


def client(transport, **options):
    return RpcClient("http://chain.invalid/secret-key", transport, **options)


async def ask_three(rpc):
    return await asyncio.gather(*(rpc.get_balance(hex(n)) for n in (1, 2, 3)))


@pytest.mark.parametrize(("calls", "batches"), [(3, [3]), (250, [50, 100, 100])])
async def test_calls_of_one_turn_travel_in_batches_of_at_most_a_hundred_and_find_their_answers(calls, batches):
    transport = FakeTransport(balances)
    rpc = client(transport)
    assert await asyncio.gather(*(rpc.get_balance(hex(n)) for n in range(calls))) == list(range(calls))
    assert sorted(len(post) for post in transport.posts) == batches
    assert await rpc.get_balance("0x7") == 7
    assert isinstance(transport.posts[-1], dict), "a lone call is no batch"


async def test_an_endpoint_that_refuses_batches_is_asked_singly_from_then_on():
    transport = FakeTransport(balances, batches=False)
    rpc = client(transport)
    assert await ask_three(rpc) == [1, 2, 3]
    assert await ask_three(rpc) == [1, 2, 3]
    assert [isinstance(post, list) for post in transport.posts] == [True] + [False] * 6


@pytest.mark.parametrize("status", [400, 405, 413, 415, 422])
async def test_a_batch_refused_by_http_status_is_asked_singly(status):
    transport = FakeTransport(balances)
    transport.faults = [TransportError("HTTP status", status)]
    assert await ask_three(client(transport)) == [1, 2, 3]


async def arriving(rpc, number):
    """Start calls several event loop iterations apart, as happens when the requests of many clients arrive."""
    calls = []
    for n in range(number):
        calls.append(asyncio.ensure_future(rpc.get_balance(f"0x{n:040x}")))
        for _ in range(5):
            await asyncio.sleep(0)
    return calls


class HeldTransport(FakeTransport):
    def __init__(self):
        super().__init__(balances)
        self.let_go = asyncio.Event()
        self.under_way = self.most = 0

    async def post(self, url, body):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.let_go.wait()
        self.under_way -= 1
        return await super().post(url, body)


async def test_under_load_calls_of_many_turns_share_batches():
    transport = HeldTransport()
    rpc = RpcClient("http://chain.invalid", transport)
    calls = await arriving(rpc, 300)
    assert transport.under_way == MAX_IN_FLIGHT
    transport.let_go.set()
    assert await asyncio.gather(*calls) == list(range(300))
    assert transport.most <= MAX_IN_FLIGHT
    assert len(transport.posts) == MAX_IN_FLIGHT + 3, (
        "one call in each of the first, all others in batches of a hundred"
    )


async def test_an_endpoint_without_batches_is_asked_without_a_bound():
    transport = HeldTransport()
    calls = await arriving(RpcClient("http://chain.invalid", transport, batches=False), 60)
    assert transport.under_way == 60
    transport.let_go.set()
    assert await asyncio.gather(*calls) == list(range(60))


async def test_one_error_in_a_batch_is_one_callers_error():
    def handler(method, params):
        return ValueError("execution reverted") if params[0] == "0x2" else "0x1"

    rpc = client(FakeTransport(handler))
    good, bad = await asyncio.gather(rpc.get_balance("0x1"), rpc.get_balance("0x2"), return_exceptions=True)
    assert good == 1
    assert isinstance(bad, RpcError)
    assert (str(bad), bad.code, bad.data) == ("execution reverted", 3, "0x08")


LOST = TransportError("lost")


@pytest.mark.parametrize(
    ("method", "faults", "posts", "answered"),
    [
        ("eth_getBalance", [LOST, TransportError("busy", 503)], 3, True),
        ("eth_getBalance", [LOST] * 9, 3, False),
        ("eth_getBalance", [TransportError("HTTP status 401", 401)], 1, False),
        ("eth_getBalance", [AnswerTooLarge(9)], 1, False),
        ("eth_sendUserOperation", [LOST], 1, False),
    ],
)
async def test_a_read_is_repeated_twice_and_neither_a_refused_one_nor_a_send(method, faults, posts, answered):
    transport = FakeTransport(lambda method, params: "0x1")
    transport.faults = list(faults)
    (found,) = await asyncio.gather(client(transport).call(method, []), return_exceptions=True)
    assert found == "0x1" if answered else isinstance(found, RpcError)
    assert len(transport.posts) == posts


async def test_a_send_never_shares_a_batch():
    transport = FakeTransport(lambda method, params: "0x1")
    rpc = client(transport)
    await asyncio.gather(
        rpc.call("eth_sendRawTransaction", ["0x"]), rpc.call("eth_chainId"), rpc.call("eth_blockNumber")
    )
    assert sorted(isinstance(post, list) for post in transport.posts) == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":{id},"result":null}',
        '{"jsonrpc":"2.0","id":{id},"result":1}',
        '{"jsonrpc":"2.0","id":{id},"result":"0x"}',
        '{"jsonrpc":"2.0","id":{id},"result":"0x01"}',
        '{"jsonrpc":"2.0","id":{id},"result":"1"}',
        '{"jsonrpc":"2.0","id":{id},"result":"-0x1"}',
        '{"jsonrpc":"2.0","id":{id},"result":"0x' + "f" * 65 + '"}',
    ],
)
async def test_what_is_no_number_is_an_error(text):
    """Other answers in no form of JSON-RPC are in vectors/service/json_rpc.json."""
    with pytest.raises(RpcError):
        await client(RawTransport(text)).get_balance(ADDRESS)


@pytest.mark.parametrize("number", ["0x8" + "0" * 11, "0x" + "f" * 64])
async def test_more_blocks_or_gas_than_a_chain_has_are_an_error(number):
    with pytest.raises(RpcError, match="more than a chain has"):
        await client(FakeTransport(lambda _method, _params: number)).block_number()
    for name in ("blockNumber", "gasUsed"):
        with pytest.raises(RpcError, match="more than a chain has"):
            values.receipt({**registration_receipts.receipt(), name: number}, registration_receipts.TX)
    for name in ("blockNumber", "logIndex"):
        with pytest.raises(RpcError, match="more than a chain has"):
            values.log({**registration_receipts.log(ADDRESS), name: number})


async def test_a_nested_answer_to_a_batch_is_an_error():
    rpc = client(RawTransport("[" * 100_000))
    failed = await asyncio.gather(rpc.get_balance(ADDRESS), rpc.block_number(), return_exceptions=True)
    assert [type(error) for error in failed] == [RpcError, RpcError]


def test_numbers_are_converted_by_python_which_takes_equal_time_for_all():
    """msgspec's own conversion, which takes sixty times as long for some numbers, refuses the first of these."""
    assert jsonrpc.parse(b"[1e999, 1.2345678901234567e-300]") == [math.inf, 1.2345678901234567e-300]


@pytest.mark.parametrize(
    "result",
    ["0x", "0x" + "00" * 31, "0x0", "0xzz", "zz", None, 5, "0X" + "00" * 32, "0x 00" + "00" * 32, "0x" + "\uff10" * 64],
)
async def test_a_short_or_malformed_call_answer_is_an_error(result):
    with pytest.raises(RpcError):
        await client(FakeTransport(lambda method, params: result)).eth_call(ADDRESS, b"\x01\x02")


@pytest.mark.parametrize("method", ["eth_getBalance", "eth_sendUserOperation"])
async def test_a_late_answer_is_an_error(method):
    class Silent:
        async def post(self, url, body):
            await asyncio.sleep(60)
            return b""

    with pytest.raises(RpcError, match="in time"):
        await client(Silent(), timeout_s=0.05).call(method, [ADDRESS, "latest"])


async def test_a_caller_who_leaves_ends_no_other_call():
    transport = FakeTransport(balances)
    rpc = client(transport)
    leaving = asyncio.ensure_future(rpc.get_balance("0x1"))
    staying = asyncio.ensure_future(rpc.get_balance("0x2"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 2
    with pytest.raises(asyncio.CancelledError):
        await leaving


@pytest.mark.parametrize("twice", [True, False])
async def test_a_batch_that_answers_twice_or_not_at_all_is_an_error(*, twice):
    class Odd(FakeTransport):
        def _batch(self, asked):
            return super()._batch([*asked, asked[0]] if twice else asked[1:])

    first, second, third = await asyncio.gather(
        *(client_.get_balance(hex(n)) for client_ in [client(Odd(balances))] for n in (1, 2, 3)), return_exceptions=True
    )
    assert isinstance(first, RpcError)
    assert (second, third) == (2, 3)


async def test_what_a_transport_should_not_raise_reaches_those_who_wait():
    class Broken:
        async def post(self, url, body):
            raise KeyError("a mistake of the transport")

    calls = (client(Broken()).get_balance(hex(n)) for n in (1, 2))
    assert [type(error) for error in await asyncio.gather(*calls, return_exceptions=True)] == [KeyError, KeyError]


async def test_no_error_names_the_address():
    with pytest.raises(RpcError) as caught:
        await client(RawTransport("<html>")).get_balance(ADDRESS)
    assert "secret-key" not in repr(caught.value)


@pytest.mark.parametrize(
    "error",
    [{"message": "key hunter2"}, {"code": -32000, "message": "key hunter2"}, {"code": "x", "message": "key hunter2"}],
)
def test_an_endpoints_own_words_stay_out_of_logs(error):
    with pytest.raises(RpcError) as caught:
        jsonrpc.outcome({"jsonrpc": "2.0", "id": 1, "error": error}, jsonrpc.RpcRequest(1, "eth_chainId", []))
    assert "hunter2" in str(caught.value)
    assert "hunter2" not in caught.value.in_our_words
