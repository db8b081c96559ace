"""Requests to the admin port reach a worker that lives, and get a response if none does."""

import asyncio
import socket
import tempfile
from pathlib import Path

import pytest

from holdfast.service.http.messages import Response
from holdfast.service.http.relaying import NoWorker, RelayedRequest, RelayServer, relay

ASKED = RelayedRequest("POST", "/admin/x", "a=1", "192.0.2.1", [("host", "localhost")], b"\x00body")


@pytest.mark.parametrize("length", [1, 50])  # with 50, the path is too long for an address
async def test_a_request_goes_past_workers_that_have_ended(length):
    async def respond(request):
        assert request == ASKED
        return Response(201, [("content-type", "text/plain")], await request.body(10) + b"x" * 300_000)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / ("long" * length)
        folder.mkdir()
        with pytest.raises(NoWorker):
            relay(folder, ASKED)
        for n in range(3):
            with socket.socket(socket.AF_UNIX) as ended:
                ended.bind(f"{name}/{n}.admin")
            Path(f"{name}/{n}.admin").rename(folder / f"{n}.admin")
        server = RelayServer(folder, respond)
        await server.start()
        found = await asyncio.gather(*(asyncio.to_thread(relay, folder, ASKED) for _ in range(8)))
        assert {(one.status, len(one.body), one.headers[0]) for one in found} == {
            (201, 300_005, ("content-type", "text/plain"))
        }
        await server.stop()
        with pytest.raises(NoWorker):
            relay(folder, ASKED)


async def test_a_worker_that_breaks_off_is_no_response():
    async def respond(_):
        raise OSError("lost")

    with tempfile.TemporaryDirectory() as name:
        server = RelayServer(Path(name), respond)
        await server.start()
        with pytest.raises(NoWorker):
            await asyncio.to_thread(relay, Path(name), ASKED)
        await server.stop()
