"""Requests in their forms: kept connections, pipelines, bodies in pieces, what is no request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from holdfast.rules.limits import MAX_HEAD_BYTES, MAX_HEADERS, MAX_PIPELINED
from holdfast.service.http_server.request import split_target
from holdfast.service.web.http import Response

if TYPE_CHECKING:
    from holdfast.service.web.http import Request

    from .conftest import House


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def post(body: bytes, *headers: str) -> bytes:
    lines = ["POST /echo HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def test_a_connection_is_kept(house: House) -> None:
    client = await house.ask(get("/a"))
    status, headers, body = await client.answer()
    assert (status, body, headers["x-request-id"]) == (200, b"/a", "id")
    assert headers["date"].endswith(" GMT") and "connection" not in headers
    await client.send(get("/b"))
    assert (await client.answer())[2] == b"/b"


@pytest.mark.parametrize(
    "request_bytes",
    [get("/a", "Connection: close"), b"GET /a HTTP/1.0\r\n\r\n", b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"],
    ids=["asked to close", "HTTP/1.0", "HTTP/1.0 that would stay"],
)
async def test_a_last_answer_says_so_and_closes(house: House, request_bytes: bytes) -> None:
    client = await house.ask(request_bytes)
    _, headers, body = await client.answer()
    assert headers["connection"] == "close" and body == b"/a"
    assert await client.rest() == b""


async def test_pipelined_answers_keep_their_order_behind_a_slow_one(house: House) -> None:
    client = await house.ask(get("/wait") + get("/b") + post(b"three") + get("/d"))
    await house.entered.wait()
    assert len(house.seen) == 1  # one at a time
    house.release.set()
    assert [(await client.answer())[2] for _ in range(4)] == [b"/wait", b"/b", b"three", b"/d"]


async def test_a_long_pipeline_is_read_no_faster_than_it_is_answered(house: House) -> None:
    client = await house.ask(get("/wait"))
    await house.entered.wait()
    await client.send(b"".join(get(f"/{n}") for n in range(50)))
    await asyncio.sleep(0.1)
    client.writer.write(b"".join(get(f"/{n}") for n in range(50, 200_000)))
    await asyncio.sleep(0.2)
    assert len(client.writer.transport.get_extra_info("peername")) == 2
    assert client.writer.transport.get_write_buffer_size() > 0  # the server has stopped reading
    house.release.set()
    assert (await client.answer())[2] == b"/wait"
    for number in range(50 + MAX_PIPELINED):
        assert (await client.answer())[2] == f"/{number}".encode()


async def test_bytes_may_come_one_by_one(house: House) -> None:
    client = await house.client()
    for byte in get("/slow%20path?q=1", "X-Long: value") + post(b"body"):
        await client.send(bytes([byte]))
        await asyncio.sleep(0)
    assert (await client.answer())[2] == b"/slow path"
    assert (await client.answer())[2] == b"body"
    assert house.seen[0].raw_path == "/slow%20path" and house.seen[0].query == "q=1"
    assert house.seen[0].header("x-long") == "value" and house.seen[0].peer == "127.0.0.1"


async def test_headers_of_one_name_are_all_there(house: House) -> None:
    client = await house.ask(get("/a", "X-Forwarded-For: 1", "x-forwarded-for: 2"))
    await client.answer()
    (request,) = house.seen
    assert request.header_values("x-forwarded-for") == ["1", "2"] and request.header("x-forwarded-for") == "1"
    assert request.all_headers() == [("host", "x"), ("x-forwarded-for", "1"), ("x-forwarded-for", "2")]
    assert request.header("absent") is None


async def test_chunks_make_a_body(house: House) -> None:
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    client = await house.ask(head + b"3\r\nabc\r\n")
    await asyncio.sleep(0.05)
    await client.send(b"4;note=x\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n")
    assert (await client.answer())[2] == b"abcdefg"
    await client.send(get("/next"))
    assert (await client.answer())[2] == b"/next"


async def test_trailers_are_no_headers(house: House) -> None:
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
    client = await house.ask(head + b"0\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n" + get("/next"))
    assert (await client.answer())[0] == 200 and (await client.answer())[2] == b"/next"
    assert [request.header("x-forwarded-for") for request in house.seen] == [None, None]
    assert house.seen[1].all_headers() == [("host", "x")]


async def test_a_client_that_asks_is_told_to_go_on(house: House) -> None:
    head, body = post(b"hello", "Expect: 100-continue").split(b"\r\n\r\n")
    client = await house.ask(head + b"\r\n\r\n")
    assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.send(body)
    assert (await client.answer())[2] == b"hello"


async def test_an_old_client_is_not(house: House) -> None:
    client = await house.ask(b"POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    await asyncio.sleep(0.05)
    await client.send(b"hello")
    assert (await client.answer())[::2] == (200, b"hello")


async def test_who_has_said_all_still_hears_the_answer(house: House) -> None:
    client = await house.ask(get("/wait") + get("/b"))
    client.writer.write_eof()
    await house.entered.wait()
    house.release.set()
    assert [(await client.answer())[2] for _ in range(2)] == [b"/wait", b"/b"]
    assert await client.rest() == b""


@pytest.mark.parametrize("pause_s", [0, 0.01], ids=["at once", "a little later"])
async def test_who_has_said_all_hears_the_end_with_the_answer(house: House, pause_s: float) -> None:
    client = await house.ask(get("/a"))
    await asyncio.sleep(pause_s)
    client.writer.write_eof()
    assert (await client.answer())[2] == b"/a"
    assert await asyncio.wait_for(client.rest(), 5) == b""


@pytest.mark.parametrize("status", [200, 299, 418, 520, 599])
async def test_every_final_status_has_its_line(house: House, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    async def respond(_: Request) -> Response:
        return Response(status, [], b"body")

    monkeypatch.setattr(house.server, "respond", respond)
    client = await house.ask(get("/a"))
    assert (await client.answer())[::2] == (status, b"body")


async def test_an_upgrade_is_not_taken_up(house: House) -> None:
    client = await house.ask(get("/a", "Connection: Upgrade", "Upgrade: websocket") + b"\x81\x05frame")
    status, headers, body = await client.answer()
    assert (status, headers["connection"], body) == (200, "close", b"/a")
    assert await client.rest() == b""


NO_REQUESTS = {
    "no http": b"\x16\x03\x01\x02\x00\x01",
    "a length that is none": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "a length and chunks": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a coding before chunks": b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "two codings": b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "two hosts in HTTP/1.0": b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
    "chunks not last": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
    "space before the colon": b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
    "folded header": b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "line feed alone": b"GET / HTTP/1.1\nHost: x\n\n",
    "null in a header": b"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
    "a byte above 127 in the target": b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    "no authority in the target": b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method that is none": b"GE T / HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("data", NO_REQUESTS.values(), ids=NO_REQUESTS)
async def test_what_is_no_request_is_400_after_what_came_before(house: House, data: bytes) -> None:
    client = await house.ask(get("/before") + data + get("/after"))
    assert (await client.answer())[2] == b"/before"
    status, headers, body = await client.answer()
    assert (status, headers["connection"], body) == (400, "close", b"")
    assert headers["access-control-allow-origin"] == "*"
    assert await client.rest() == b"" and house.finished == ["/before"]


@pytest.mark.parametrize("line", [b"GET /a", b"GET /a HTTP/0.9", b"GET /a HTTP/2.0"])
async def test_other_versions_are_505(house: House, line: bytes) -> None:
    client = await house.ask(line + b"\r\nHost: x\r\n\r\n")
    assert (await client.answer())[0] == 505
    assert await client.rest() == b"" and house.seen == []


@pytest.mark.parametrize(
    "head",
    [
        get("/a", "X: " + "y" * MAX_HEAD_BYTES),
        get("/" + "a" * MAX_HEAD_BYTES),
        get("/a", *(f"X-{n}: y" for n in range(MAX_HEADERS))),
        get("/a", "X: " + "y" * MAX_HEAD_BYTES)[:-4] + b"y" * 1_000_000,
    ],
    ids=["one header", "target", "many headers", "without an end"],
)
async def test_a_head_over_the_limit_is_431(house: House, head: bytes) -> None:
    client = await house.ask(head)
    status, headers, _ = await client.answer()
    assert (status, headers["connection"]) == (431, "close") and house.seen == []


async def test_a_head_up_to_the_limit_is_taken(house: House) -> None:
    client = await house.ask(get("/a", "X: " + "y" * (MAX_HEAD_BYTES - 100)))
    assert (await client.answer())[0] == 200


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        (b"/a/b?c=d", ("/a/b", "c=d")),
        (b"/a%2Fb", ("/a%2Fb", "")),
        (b"/a?b?c", ("/a", "b?c")),
        (b"/a#b", ("/a", "")),
        (b"//x/y", ("//x/y", "")),
        (b"http://evil.example/a?b", ("/a", "b")),
        (b"http://evil.example", ("/", "")),
        (b"*", ("*", "")),
    ],
)
def test_targets(target: bytes, parts: tuple[str, str]) -> None:
    assert split_target(target) == parts
