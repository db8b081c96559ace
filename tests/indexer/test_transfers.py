"""The transfers of an account are read from the chain page by page, and endpoints that refuse or lie are survived."""

import aiohttp
import pytest
from tests.support.fake_chain import GENESIS_S
from tests.support.index_client import TOKEN, Client, build_on, until_healthy
from tests.support.upstreams import rpc_results, upstream

from holdfast.chain.errors import RpcError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.indexer import transfers
from holdfast.indexer.asgi import IndexerApp
from holdfast.indexer.runtime import transfer_reader
from holdfast.indexer.settings import read_settings
from holdfast.indexer.transfers import TransferReader
from holdfast.wire.encoding import to_hex, to_iso
from holdfast.wire.keccak import checksum_address

MINE, OTHER, THIRD = (bytes([number]) * 20 for number in (1, 2, 3))
PATH = f"/api/accounts/0x{MINE.hex()}/transfers"


@pytest.fixture
async def client(tmp_path, chain):
    made = Client(IndexerApp(build_on(tmp_path, chain)))
    yield made
    await made.app.stop()


async def test_payments_in_and_out_the_newest_first(client, chain):
    received = chain.transfer(OTHER, MINE, 12_500_000, TOKEN)
    chain.transfer(OTHER, THIRD, 1, TOKEN)
    chain.transfer(OTHER, MINE, 1, b"f" * 20)  # another token
    sent = chain.transfer(MINE, OTHER, 5, TOKEN)
    await until_healthy(client)
    page = await client.get(PATH)
    assert page["next_cursor"] is None
    first, second = page["transfers"]
    assert first == {
        "direction": "out", "token": checksum_address(TOKEN), "from": checksum_address(MINE),
        "to": checksum_address(OTHER), "amount": "5", "block_number": "4", "log_index": 0,
        "tx_hash": "0x" + sent.hex(), "time": to_iso(GENESIS_S + 8),
    }  # fmt: skip
    assert (second["direction"], second["tx_hash"], second["amount"]) == ("in", "0x" + received.hex(), "12500000")


async def test_pages_together_have_every_transfer_once(client, chain):
    hashes = ["0x" + chain.transfer(OTHER, MINE, number, TOKEN).hex() for number in range(2 * transfers.ROWS + 3)]
    await until_healthy(client)
    seen = []
    query = ""
    while True:
        page = await client.get(PATH, query)
        seen += [row["tx_hash"] for row in page["transfers"]]
        if page["next_cursor"] is None:
            break
        query = f"cursor={page['next_cursor']}"
    assert seen == hashes[::-1]


@pytest.mark.parametrize("query", ["cursor=-1", "cursor=x", "cursor=1&cursor=2", "limit=5"])
async def test_a_query_in_another_form_is_refused(client, query):
    assert (await client.ask(PATH, query))[0] == 400
    assert (await client.ask("/api/accounts/0x12/transfers"))[0] == 400


def refusing(most):
    """An endpoint that refuses ranges above a size."""

    def hook(method, params):
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) >= most:
            raise RpcError("too many blocks")
        return ...

    return hook


async def test_smaller_ranges_are_asked_for_if_large_ones_are_refused(chain):
    chain.transfer(OTHER, MINE, 1, TOKEN)
    for _ in range(30):
        chain.mine(0)
    chain.hook = refusing(15)
    reader, found, top = TransferReader(chain, TOKEN, 0), [], 31
    while top is not None:
        page = await reader.page(MINE, top)
        found += page.transfers
        assert page.following is None or page.following < top
        top = page.following
    assert [transfer.amount for transfer in found] == [1]


async def test_one_request_costs_the_endpoint_a_few(chain):
    chain.hook = refusing(0)
    with pytest.raises(RpcError):
        await TransferReader(chain, TOKEN, 0).page(MINE, 10**7)
    assert chain.calls.count("eth_getLogs") <= 12


async def test_a_busy_account_costs_no_more_than_a_page(tmp_path):
    """Ten thousand logs, which one request for a range may return, take half a second to parse."""

    def logs(asked):
        first, last = int(asked["fromBlock"], 16), int(asked["toBlock"], 16)
        ranges.append(last - first + 1)
        if asked["topics"][1] is None:
            return []
        return [log(number) for number in range(first, last + 1) if number % 20 == 0]

    def log(number):
        block, party = hex(number), "0x" + MINE.rjust(32, b"\0").hex()
        return {
            "address": to_hex(settings.token), "topics": [to_hex(transfers.TRANSFER), party, party],
            "data": f"0x{number:064x}", "blockNumber": block, "logIndex": "0x0",
            "blockHash": f"0x{number:064x}", "transactionHash": f"0x{number:064x}",
        }  # fmt: skip

    ranges = []
    async with upstream() as endpoint, aiohttp.ClientSession() as session:
        endpoint.answer = rpc_results({"eth_getLogs": logs, "eth_getBlockByNumber": {"timestamp": "0x1"}})
        settings = read_settings({"HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_RPC_URL": endpoint.url})
        rpc = RpcClient(endpoint.url, AiohttpTransport(session))
        page = await transfer_reader(settings, rpc, session).page(MINE, 10**6)
    assert len(page.transfers) == transfers.ROWS and page.transfers[0].amount == 10**6
    assert ranges == [50_000] * 2 + [6_250] * 2  # the first answer was not taken


async def test_logs_that_were_not_asked_for_are_left_out(chain):
    chain.transfer(OTHER, THIRD, 1, TOKEN)
    strangers = await chain.call("eth_getLogs", [{"fromBlock": "0x0", "toBlock": "0x1", "topics": []}])
    assert strangers
    chain.hook = lambda method, _params: strangers if method == "eth_getLogs" else ...
    page = await TransferReader(chain, TOKEN, 0).page(MINE, 1)
    assert page.transfers == []


async def test_a_chain_without_the_token_has_no_transfers(chain):
    assert await TransferReader(chain, None, 0).page(MINE, 1) == transfers.TransferPage([], None)


async def test_times_that_other_requests_displace_are_not_missed(chain, monkeypatch):
    monkeypatch.setattr(transfers, "LATEST_TIMES", 1)
    for amount in range(3):
        chain.transfer(OTHER, MINE, amount, TOKEN)
    page = await TransferReader(chain, TOKEN, 0).page(MINE, 3)
    assert [(one.amount, one.time) for one in page.transfers] == [(n, GENESIS_S + 2 * (n + 1)) for n in (2, 1, 0)]
