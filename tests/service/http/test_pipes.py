"""Large responses through a pipe that granian opens by its path, a moment after it got it."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from holdfast.service.http import pipes
from holdfast.service.http.large_responses import PART_BYTES, LargeResponses, LimitedResponse
from holdfast.service.http.messages import Response
from holdfast.service.web import rsgi

ADDRESS = "192.0.2.1"


class Granian:
    """Gets a response's path, and opens it when the test does."""

    path: str

    def response_file(self, _status, _headers, path):
        self.path = path


async def placed(places):
    response = Response(200, [], bytes(2 * PART_BYTES))
    return LimitedResponse(response, await places.slot(ADDRESS, len(response.body)), "1.1")


async def test_a_body_that_fails_at_once_is_empty_and_never_another_file(monkeypatch):
    """The path's number is not given to the next file that the process opens."""
    monkeypatch.setattr(pipes, "OPENED_WITHIN_S", 0.0)
    granian, places = Granian(), LargeResponses(1, 1, send_timeout_s=1.0, waits_s=0.01)
    response = await placed(places)

    async def lost():
        raise FileNotFoundError
        yield b""

    response.pieces = lost()
    with pytest.raises(FileNotFoundError):
        await rsgi.send_limited(granian, response, [])
    other = os.open("/proc/self/status", os.O_RDONLY)
    assert Path(granian.path).read_bytes() == b""
    os.close(other)
    await asyncio.sleep(0.01)
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(int(Path(granian.path).name))


async def test_without_a_descriptor_the_place_is_left_again(monkeypatch):
    places = LargeResponses(1, 1, send_timeout_s=1.0, waits_s=0.01)

    def none_left():
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(pipes.os, "pipe", none_left)
    with pytest.raises(OSError, match="too many"):
        await rsgi.send_limited(Granian(), await placed(places), [])
    assert await places.slot(ADDRESS, 1), "the only place is free"


async def test_a_kernel_that_keeps_the_pipe_small_does_not_prevent_a_response(monkeypatch):
    """Linux refuses larger pipes to a user who has very many (pipe(7), pipe-user-pages-soft)."""

    def refused(*_arguments):
        raise PermissionError

    monkeypatch.setattr(pipes.fcntl, "fcntl", refused)
    pipe = pipes.Pipe(PART_BYTES)
    pipe.close()
