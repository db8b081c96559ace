"""What upstreams receive from Holdfast, and how compressed responses and unusual headers are handled."""

import asyncio
import gzip
import re
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from tests.support.upstreams import raw_upstream, rpc_results, upstream

from holdfast import __version__
from holdfast.rules.chains import CHAINS
from holdfast.service import bootstrap
from holdfast.service.bootstrap.upstreams import pool_of
from holdfast.service.upstreams import proxy
from holdfast.service.upstreams.indexer import IndexerAddress
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.service.upstreams.proxy import UpstreamError

ACCOUNT = "0x" + "11" * 20
CALL = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}


@pytest.fixture
async def surrounded(make_api):
    """A service whose chain, bundler and indexer are a single fake server."""
    async with upstream() as served:
        yield make_api(rpc_url=served.url, bundler_url=served.url, indexer_url=served.url), served


def seen(served):
    return {name.lower(): value for name, value in served.requests[-1][2].items()}


async def ask_everyone(api):
    answers = [
        await api.get("/api/balance", account=ACCOUNT, token="ETH", chainId="84532"),
        await api.post("/api/bundler", **CALL),
        await api.get("/api/indexer/health"),
    ]
    return [answer.status_code for answer in answers]


async def test_every_upstream_hears_who_asks_and_may_pack_its_answer(surrounded):
    api, served = surrounded

    def packed(request, body):
        results = {"eth_getBalance": "0x1", "eth_supportedEntryPoints": []}
        answer = rpc_results(results)(request, body) if body else web.json_response({"ok": True})
        answer.enable_compression()  # as the request's Accept-Encoding allows
        return answer

    served.answer = packed
    api.http.headers["user-agent"] = "somebody"
    assert await ask_everyone(api) == [200, 200, 200]
    assert {headers["User-Agent"] for _, _, headers, _ in served.requests} == {f"Holdfast/{__version__}"}


async def test_only_the_callers_encoding_goes_to_the_indexer_and_no_unsendable_header_comes_back(surrounded):
    api, served = surrounded
    for encoding in ("identity", "gzip", "deflate", None):
        request = api.http.build_request("GET", "/api/indexer/health")
        del request.headers["accept-encoding"]
        request.headers |= {"accept-encoding": encoding} if encoding else {}
        await api.http.send(request)
        assert seen(served)["accept-encoding"] == (encoding or "identity")
    served.answer = lambda _request, _body: web.Response(body=b"{}", headers={"ETag": '"\u20ac"', "Expires": "0"})
    answer = await api.get("/api/indexer/health")
    assert (answer.status_code, answer.content) == (200, b"{}")
    assert "etag" not in answer.headers and answer.headers["expires"] == "0"


HOSTILE = {
    "no HTTP": b"\x16\x03\x01\x02\x00 hello\r\n\r\n", "nothing": b"", "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "a body cut short": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "a broken chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an endless head": b"HTTP/1.1 200 OK\r\nA: " + b"a" * 100_000 + b"\r\n\r\n",
}  # fmt: skip


async def test_an_upstream_that_speaks_no_http_is_a_502_of_ours(make_api):
    for kind, sent in HOSTILE.items():
        async with raw_upstream(sent) as url:
            api = make_api(rpc_url=url, bundler_url=url, indexer_url=url)
            assert await ask_everyone(api) == [502, 502, 502], kind


@pytest.mark.parametrize(("interim", "ends"), [(3, "answered"), (1000, "refused")])
async def test_an_upstream_with_many_interim_responses_is_left(interim, ends):
    """An endless series of them would hold up all other requests: reading them yields to no other task."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * interim
    pools = ConnectionPools()
    async with raw_upstream(hints + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") as url:
        asked = IndexerAddress(url, pools.of("indexer")).get("/health", "", {})
        if ends == "answered":
            assert (await asked).body == b"{}"
        else:
            with pytest.raises(UpstreamError) as caught:
                await asked
            assert caught.value.kind == "unreachable"
    await pools.close()


async def test_an_upstream_that_drips_is_left_after_the_limit(make_api, monkeypatch):
    monkeypatch.setattr("holdfast.service.upstreams.proxy.PROXY_TIMEOUT_S", 0.3)
    async with raw_upstream(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b" " * 100, drip_s=0.05) as url:
        api = make_api(bundler_url=url, indexer_url=url)
        answers = await asyncio.gather(api.get("/api/indexer/health"), api.post("/api/bundler", **CALL))
    assert [answer.status_code for answer in answers] == [502, 502]


async def test_a_small_answer_that_unpacks_to_a_large_one_is_not_unpacked(surrounded):
    api, served = surrounded
    packed = gzip.compress(b" " * 64 * 2**20)
    served.answer = lambda _request, _body: web.Response(body=packed, headers={"Content-Encoding": "gzip"})
    assert (await api.post("/api/bundler", **CALL)).status_code == 502
    assert (await api.get("/api/balance", account=ACCOUNT, token="ETH", chainId="84532")).status_code == 502
    request = api.http.build_request("GET", "/api/indexer/health", headers={"Accept-Encoding": "gzip"})
    answer = await api.http.send(request, stream=True)
    assert b"".join([chunk async for chunk in answer.aiter_raw()]) == packed


@pytest.fixture
def room(monkeypatch):
    """Return a function that sets how many MiB of large answers have room, and how many seconds others wait for it."""

    def sets(mib, waits_s, waiting=50):
        monkeypatch.setattr(proxy, "UPSTREAM_ROOM_BYTES", proxy.AnswerBody.in_use + mib * 2**20)
        monkeypatch.setattr(proxy, "UPSTREAM_ROOM_WAITS_S", waits_s)
        monkeypatch.setattr(proxy, "UPSTREAM_ROOM_WAITING", waiting)

    return sets


@asynccontextmanager
async def indexed(answer):
    """An indexer that answers so, and the service's way to it."""
    async with upstream() as served, ClientSession() as session:
        served.answer = answer
        yield served, IndexerAddress(served.url, lambda: session)


def mebibyte(_request, _body):
    return web.Response(body=b" " * 2**20)


async def mebibyte_in_chunks(request, _body):
    """The body's length is not stated."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(16):
        await response.write(b" " * 2**16)
    return response


async def test_large_answers_share_a_room_until_they_are_sent_and_give_back_what_they_do_not_need(room):
    """A hundred answers of 8 MiB would otherwise be in memory at once, and stay there for slow clients."""
    room(2, waits_s=0.01)
    async with indexed(mebibyte) as (served, indexer):
        being_sent = [await indexer.get("/health", "", {}) for _ in range(2)]
        for _ in range(2):
            with pytest.raises(UpstreamError, match="too many large answers"):
                await indexer.get("/health", "", {})
        served.answer = lambda _request, _body: web.json_response({})
        assert (await indexer.get("/health", "", {})).body == b"{}", "small ones need no room"
        served.answer = mebibyte
        being_sent.pop()
        assert len((await indexer.get("/health", "", {})).body) == 2**20
    room(9, waits_s=0.01)
    async with indexed(mebibyte_in_chunks) as (_, indexer):
        being_sent = [await indexer.get("/health", "", {}) for _ in range(2)]
        assert [len(found.body) for found in being_sent] == [2**20] * 2


@pytest.mark.parametrize(("answer", "mib"), [(mebibyte, 2), (mebibyte_in_chunks, 9)])
async def test_large_answers_wait_for_room_until_others_are_sent(room, answer, mib):
    """None waits with a part of the room that another waits for. An answer of unknown length needs room for 8 MiB."""
    room(mib, waits_s=60)
    before, most = proxy.AnswerBody.in_use, 0

    async def sent():
        nonlocal most
        found = await indexer.get("/health", "", {})
        most = max(most, proxy.AnswerBody.in_use - before)
        await asyncio.sleep(0)
        return len(found.body)

    async with indexed(answer) as (_, indexer):
        assert await asyncio.gather(*(sent() for _ in range(20))) == [2**20] * 20
    assert 2**20 <= most <= mib * 2**20 and proxy.AnswerBody.in_use == before


async def test_only_so_many_answers_wait_for_room(room):
    """The others' connections stay free for small answers."""
    room(1, waits_s=60, waiting=3)
    async with indexed(mebibyte) as (_, indexer):
        being_sent = [await indexer.get("/health", "", {})]

        async def size():
            return len((await indexer.get("/health", "", {})).body)

        asking = [asyncio.create_task(size()) for _ in range(5)]
        while sum(task.done() for task in asking) < 2:
            await asyncio.wait([task for task in asking if not task.done()], return_when=asyncio.FIRST_COMPLETED)
        being_sent.clear()
        outcomes = await asyncio.gather(*asking, return_exceptions=True)
    assert sorted(map(str, outcomes)) == [str(2**20)] * 3 + ["too many large answers at the same time"] * 2


async def test_an_answer_that_states_too_great_a_length_is_not_read(room):
    read = asyncio.Event()

    async def immense(request, _body):
        response = web.StreamResponse(headers={"Content-Length": str(2**40)})
        await response.prepare(request)
        await response.write(b" ")
        await read.wait()
        return response

    async with indexed(immense) as (_, indexer):
        with pytest.raises(UpstreamError, match="too large"):
            await indexer.get("/health", "", {})
        read.set()


def test_every_upstream_has_a_pool_by_itself():
    """The service gives each upstream an HTTP client with a different name, so that no two share connections."""
    (room,) = bootstrap.__path__
    source = "".join(file.read_text() for file in Path(room).glob("*.py"))
    names = re.findall(r'pools\.of\("([^"]+)"\)', source)
    assert sorted(names) == ["confirmations", "events", "events_engine", "indexer", "mail", "sms"]
    kinds = re.findall(r'pools\.of\(pool_of\("([^"]+)", chain, ', source)
    assert sorted(kinds) == ["bundler", "chain"]
    main = CHAINS[84532]
    names += [pool_of(kind, chain, main) for kind in kinds for chain in CHAINS.values()]
    assert len(names) == len(set(names))
