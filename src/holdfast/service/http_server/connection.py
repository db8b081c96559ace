"""One connection: bytes to requests, answers to bytes, in order, each wait with an end."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from math import inf
from typing import TYPE_CHECKING, cast

from holdfast.rules.limits import (
    BODY_TIMEOUT_S,
    HEAD_TIMEOUT_S,
    IDLE_TIMEOUT_S,
    LINGER_S,
    MAX_PIPELINED,
    WRITE_TIMEOUT_S,
)
from holdfast.service.http_server.answers import CONTINUE, encoded, wants_close
from holdfast.service.http_server.intake import Intake
from holdfast.service.web.http import BROKEN_OFF, ClientGone, Response

if TYPE_CHECKING:
    from holdfast.service.http_server.request import IncomingRequest
    from holdfast.service.http_server.server import HttpServer

_log = logging.getLogger("holdfast.http")
_PARSED_AT_ONCE = 8 * 1024


class Connection(asyncio.Protocol):
    """Reads requests, has them answered one after the other, writes the answers when the server says so.

    `deadline` is the moment, on the loop's clock, at which the server calls `overdue`.
    """

    __slots__ = (
        "_busy", "_cut", "_ending", "_held", "_intake", "_last", "_lost", "_out", "_server", "_surplus",
        "_throttled", "_transport", "_unsent", "_waiting", "deadline",
    )  # fmt: skip

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._intake: Intake
        self._transport: asyncio.Transport
        self._waiting: deque[IncomingRequest | Response] = deque()
        self._out: list[bytes] = []
        self._surplus: bytes | memoryview = b""  # read, but not parsed yet
        self._unsent = 0
        self._busy = False  # a request is being answered
        self._lost = False  # nobody is left to answer
        self._last = False  # nothing that comes after what is here will be answered
        self._cut = False  # what the client is sending is not being read to its end
        self._ending = False  # the last answer is written: what still comes is thrown away
        self._held = False  # reading is paused
        self._throttled = False  # the client reads too slowly
        self.deadline = server.now + HEAD_TIMEOUT_S

    @property
    def idle(self) -> bool:
        """Whether nothing was asked that is not answered; half a request may be there."""
        return not (self._busy or self._waiting or self._out or self._throttled or self._ending)

    @property
    def in_head(self) -> bool:
        """Whether half a request is there."""
        return self._intake.in_head

    # -- the transport's events ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = cast("asyncio.Transport", transport)
        address = transport.get_extra_info("peername")
        self._intake = Intake(self, str(address[0]) if isinstance(address, tuple) else "")
        self._server.connections.add(self)

    def data_received(self, data: bytes | memoryview) -> None:
        """Parse; whole requests begin at once."""
        if len(data) > _PARSED_AT_ONCE:
            self._surplus = memoryview(data)
            self._parse_on()
            return
        if self._last:
            return
        refusal = self._intake.feed(data)
        if refusal:
            self._refuse(refusal)
        elif self._intake.over:
            self._last = True
        self._next()

    def _parse_on(self) -> None:
        """Parse piece after piece, while reading is not paused: parsed requests take many times their bytes."""
        while self._surplus and not self._held:
            piece, self._surplus = self._surplus[:_PARSED_AT_ONCE], self._surplus[_PARSED_AT_ONCE:]
            self.data_received(piece)

    def eof_received(self) -> bool:
        """The client has said all. What it asked is still answered."""
        self._last = True
        if self._intake.reading:
            self._intake.reading.break_off()
        if self._busy or self._waiting:
            return True
        self._ending = bool(self._out)  # the last answer is made already and was to be followed by more
        return self._ending

    def connection_lost(self, _error: Exception | None) -> None:
        """There is nobody left to answer; what runs is finished all the same."""
        self._lost = True
        self._waiting.clear()
        self._surplus = b""
        self._intake.end()
        if not self._busy:
            self._server.connections.discard(self)

    def pause_writing(self) -> None:
        """The client reads too slowly: no further request of it is begun."""
        self._throttled = True
        self._unsent = self._transport.get_write_buffer_size()
        self.deadline = self._server.now + WRITE_TIMEOUT_S

    def resume_writing(self) -> None:
        """It has caught up."""
        self._throttled = False
        if not self._busy and not self._ending:
            self._rest()
            self._next()

    # -- what the intake tells -----------------------------------------------------------------------------------------

    def begun(self) -> None:
        """See Receiver."""
        if not (self._busy or self._throttled):  # whoever reads nothing gains no time by sending
            self.deadline = self._server.now + HEAD_TIMEOUT_S

    def arrived(self, request: IncomingRequest) -> None:
        """See Receiver."""
        self._waiting.append(request)
        if len(self._waiting) > MAX_PIPELINED:
            self.hold()

    def _refuse(self, answer: Response) -> None:
        """What came is no request: answer what came before it, then this, then no more."""
        self._last = self._cut = True
        if self._intake.reading:
            self._intake.reading.break_off()
        else:
            self._waiting.append(answer)

    # -- what a request asks of its connection -------------------------------------------------------------------------

    def want_body(self, request: IncomingRequest) -> None:
        """See BodySource."""
        if not request.old and not self._last and (request.header("expect") or "").lower() == "100-continue":
            self._out.append(CONTINUE)
            self._server.flush_soon(self)
        self.deadline = self._server.now + BODY_TIMEOUT_S
        self._release()

    def hold(self) -> None:
        """See BodySource."""
        if not self._held:
            self._held = True
            self._transport.pause_reading()

    def _release(self) -> None:
        if self._held and not self._transport.is_closing():
            self._held = False
            self._parse_on()
            if not self._held:
                self._transport.resume_reading()

    # -- answers -------------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        """Begin the next request, if none is being answered."""
        if self._busy or self._throttled or not self._waiting:
            return
        self._busy = True
        self.deadline = inf
        item = self._waiting.popleft()
        if isinstance(item, Response):
            self._answered(item, keep=False)
        else:
            self._server.runners.answer(self, item)

    async def answer(self, request: IncomingRequest) -> None:
        """Answer the request that is at the head of the queue."""
        try:
            try:
                response = await self._server.respond(request)
            except ClientGone:
                response = BROKEN_OFF
            keep = request.keep_alive and request.complete and not wants_close(response)
            self._answered(response, keep=keep)
        except asyncio.CancelledError:
            self._give_up()
            raise
        except Exception:  # noqa: BLE001 - whatever it is, the connection must not wait for ever
            _log.exception("no answer could be given")
            self._give_up()

    def _give_up(self) -> None:
        self._transport.abort()
        self._answered(BROKEN_OFF, keep=False)

    def _answered(self, response: Response, *, keep: bool) -> None:
        self._busy = False
        if self._lost:
            self._server.connections.discard(self)
            return
        last = not keep or ((self._last or self._server.stopping) and not self._waiting)
        self._out += encoded(response, self._server.date_line, close=last)
        self._server.flush_soon(self)
        if last:
            self._last = self._ending = True
            self._waiting.clear()
            return
        self._rest()
        if self._held and len(self._waiting) <= MAX_PIPELINED // 2:
            self._release()

    def _rest(self) -> None:
        """Wait for the next request, or for the rest of its head."""
        self.deadline = self._server.now + (HEAD_TIMEOUT_S if self._intake.in_head else IDLE_TIMEOUT_S)

    def flush(self) -> None:
        """Write what is ready; then begin the next request, or close after the last answer."""
        out, self._out = self._out, []
        if not out or self._transport.is_closing():
            return
        if len(out) == 1:
            self._transport.write(out[0])
        else:
            self._transport.writelines(out)
        if self._ending:
            self._end()
        elif self._waiting:
            self._next()

    def _end(self) -> None:
        """Close, but not under the eyes of a client that is still sending: it would never see the answer."""
        if self._intake.reading is None and not self._cut:
            self.deadline = self._server.now + WRITE_TIMEOUT_S
            self._transport.close()
            return
        self.deadline = self._server.now + LINGER_S
        self._release()
        try:
            self._transport.write_eof()
        except OSError:  # the client is gone already; the other answers of this turn are still to be written
            self._transport.abort()

    # -- what the server asks ------------------------------------------------------------------------------------------

    def overdue(self) -> None:
        """The deadline has passed: for a body, for the client's reading, for the next request, for the goodbye."""
        if self._busy:
            self.deadline = inf  # whoever answers has limits of its own
            if self._intake.reading and self._intake.reading.awaited:
                self._intake.reading.time_out()
        elif self._progresses():
            self.deadline = self._server.now + WRITE_TIMEOUT_S
        else:
            self._transport.abort()

    def _progresses(self) -> bool:
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        return self._unsent < before

    def close(self) -> None:
        """The server stops, and nothing is open here."""
        self._transport.close()

    def abort(self) -> None:
        """The server has waited long enough."""
        self._transport.abort()
