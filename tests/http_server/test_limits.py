"""Every wait has an end, every size a bound, and the end of the server loses nothing."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.service.http_server import connection as connections
from holdfast.service.http_server import intake as intakes
from holdfast.service.http_server.connection import Connection
from holdfast.service.http_server.intake import Intake
from holdfast.service.http_server.request import IncomingRequest
from holdfast.service.web.http import Response
from holdfast.wire.errors import Refused

from .test_requests import get, post

if TYPE_CHECKING:
    from .conftest import Client, House


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("sent", [b"", b"GET /a HT", get("/a")[:-2]], ids=["nothing", "half a line", "half a head"])
async def test_a_head_that_does_not_come_ends_the_connection(house: House, sent: bytes) -> None:
    client = await house.ask(sent)
    with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
        await client.reader.readexactly(1)
    assert not house.server.connections


@pytest.mark.usefixtures("quick")
async def test_an_idle_connection_ends(house: House) -> None:
    client = await house.ask(get("/a"))
    await client.answer()
    with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
        await client.reader.readexactly(1)


@pytest.mark.usefixtures("quick")
async def test_a_slow_answer_has_no_limit_here(house: House) -> None:
    client = await house.ask(get("/wait"))
    await asyncio.sleep(1)
    house.release.set()
    assert (await client.answer())[2] == b"/wait"


@pytest.mark.usefixtures("quick")
async def test_a_body_that_does_not_come_is_refused_in_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals: list[str] = []
    answer = house.respond

    async def respond(request):  # type: ignore[no-untyped-def]
        try:
            return await answer(request)
        except Refused as refused:
            refusals.append(refused.row.error)
            raise

    monkeypatch.setattr(house.server, "respond", respond)
    client = await house.ask(post(b"12345678")[:-4])
    await client.rest()
    assert refusals == ["request_timeout"]


async def test_a_body_over_the_limit_is_refused_before_it_is_read(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    client = await house.ask(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n")
    await client.rest()
    assert house.finished == []
    client = await house.ask(
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * 600
    )
    await client.rest()
    assert house.finished == []


ENDLESS = {
    "many trailers": b"0\r\n" + b"a: b\r\n" * 100_000,
    "one long trailer": b"0\r\na: " + b"b" * 500_000,
    "a long extension of a chunk": b"2;" + b"b" * 500_000,
}


@pytest.mark.parametrize("wrapping", ENDLESS.values(), ids=ENDLESS)
async def test_what_wraps_a_body_has_a_bound(house: House, wrapping: bytes) -> None:
    client = await house.ask(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + wrapping)
    status, headers, _ = await client.answer()
    assert (status, headers["connection"]) == (400, "close") and house.finished == []


async def test_a_body_of_the_smallest_chunks_is_taken(house: House) -> None:
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    client = await house.ask(head + b"1;ab\r\nx\r\n" * 1000 + b"0\r\n\r\n" + get("/next"))
    assert (await client.answer())[2] == b"x" * 1000
    assert (await client.answer())[2] == b"/next"


async def test_what_is_pipelined_waits_as_bytes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small request takes many times its bytes once it is parsed."""
    made: list[IncomingRequest] = []

    class Counted(IncomingRequest):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(intakes, "IncomingRequest", Counted)
    client = await house.ask(get("/wait"))
    await house.entered.wait()
    await client.send(get("/a") * 7000)
    await asyncio.sleep(0.1)
    assert len(made) < 500
    house.release.set()
    for _ in range(7001):
        assert (await client.answer())[0] == 200


async def test_a_body_may_be_behind_what_is_not_parsed_yet(house: House) -> None:
    client = await house.ask(get("/wait"))
    await house.entered.wait()
    await client.send(get("/a") * 400 + post(b"x" * 900) * 40 + post(b"late")[:-2])
    await asyncio.sleep(0.1)
    house.release.set()
    for _ in range(401):
        await client.answer()
    for _ in range(40):
        assert (await client.answer())[2] == b"x" * 900
    await client.send(b"te")
    assert (await client.answer())[2] == b"late"


@pytest.mark.usefixtures("quick")
async def test_a_client_still_sending_hears_the_answer(house: House) -> None:
    """Closing at once would reset the connection, and the answer would be lost with it."""
    client = await house.ask(b"POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
    status, headers, body = await client.answer()
    assert (status, headers["connection"], body) == (200, "close", b"/other")
    with pytest.raises(ConnectionError):
        await sent_for_ever(client)


async def sent_for_ever(client: Client) -> None:
    async with asyncio.timeout(60):
        while True:
            await client.send(b"x" * 65536)
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("quick")
async def test_who_reads_nothing_is_let_go(house: House) -> None:
    client = await house.ask(get("/big") + get("/big"))
    client.writer.transport.pause_reading()
    async with asyncio.timeout(60):
        while house.server.connections or not house.seen:
            await asyncio.sleep(0.05)
    assert len(house.seen) == 1  # the second was not begun


async def test_who_reads_slowly_gets_it_all(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than a client may read nothing at all."""
    monkeypatch.setattr(connections, "WRITE_TIMEOUT_S", 1.5)
    client = await house.ask(get("/big", "Connection: close"))
    size = 0
    while chunk := await client.reader.read(400_000):
        size += len(chunk)
        await asyncio.sleep(0.04)
    assert size > 20_000_000


async def test_what_runs_is_finished_though_the_client_has_gone(house: House) -> None:
    client = await house.ask(get("/wait"))
    await house.entered.wait()
    client.writer.transport.abort()
    await asyncio.sleep(0.1)
    house.release.set()
    async with asyncio.timeout(60):
        while house.server.connections:
            await asyncio.sleep(0.01)
    assert house.finished == ["/wait"]


@pytest.mark.parametrize("path", ["/broken", "/splits"])
async def test_a_fault_ends_one_connection_only(house: House, path: str, caplog: pytest.LogCaptureFixture) -> None:
    client = await house.ask(get(path))
    assert b"set-cookie" not in await drained(client.reader)
    assert "no answer could be given" in caplog.text
    other = await house.ask(get("/a"))
    assert (await other.answer())[2] == b"/a"


async def test_no_connection_needs_a_collector(house: House) -> None:
    """Whatever ended it: a request that was answered, a body that broke off in each way, bytes that are none."""
    half = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"
    gc.collect()
    gc.disable()
    try:
        for data in (get("/a"), half, half.replace(b"/echo", b"/b"), get("/wait") + half, b"junk\r\n\r\n"):
            client = await house.ask(data)
            await asyncio.sleep(0.05)
            client.writer.transport.abort()
            house.release.set()
        await asyncio.sleep(0.1)
        house.seen.clear()
        assert not [each for each in gc.get_objects() if isinstance(each, Connection | Intake | IncomingRequest)]
    finally:
        gc.enable()


async def test_an_answer_that_is_cancelled_leaves_nothing_hanging(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def respond(_: object) -> Response:
        raise asyncio.CancelledError

    monkeypatch.setattr(house.server, "respond", respond)
    client = await house.ask(get("/a"))
    assert await drained(client.reader) == b"" and not house.server.connections


async def drained(reader: asyncio.StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionResetError:
        return b""


async def test_the_end_answers_what_was_read_and_closes_what_is_idle(house: House) -> None:
    idle = await house.ask(get("/a"))
    await idle.answer()
    half = await house.ask(get("/half")[:-2])
    busy = await house.ask(get("/wait") + get("/queued"))
    await house.entered.wait()
    stopping = asyncio.create_task(house.server.stop(60))
    assert await idle.rest() == b""
    late = await house.client() if not await refused(house.port) else None
    house.release.set()
    assert await half.rest() == b""
    assert (await busy.answer())[2] == b"/wait"
    status, headers, body = await busy.answer()
    assert (status, body, headers["connection"]) == (200, b"/queued", "close")
    await asyncio.wait_for(stopping, 60)
    assert await refused(house.port)
    assert late is None or await late.rest() == b""


async def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return True
    return False


async def test_a_request_on_its_way_at_the_end_is_answered(house: House) -> None:
    client = await house.client()
    await asyncio.sleep(0.05)
    stopping = asyncio.create_task(house.server.stop(60))
    await asyncio.sleep(0)
    await client.send(get("/late"))
    assert (await client.answer())[1]["connection"] == "close"
    await asyncio.wait_for(stopping, 60)


async def test_the_end_waits_only_so_long(house: House) -> None:
    client = await house.ask(get("/wait"))
    await house.entered.wait()
    await asyncio.wait_for(house.server.stop(0.2), 60)
    assert await drained(client.reader) == b""
    assert house.finished == []
