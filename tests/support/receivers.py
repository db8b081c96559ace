"""Servers on loopback: a mail server, and an HTTP API that records exact requests."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from tests.support.upstreams import scripted

NEVER, HANG_UP = object(), object()


class Receiver:
    def __init__(self, *, ssl_context: ssl.SSLContext | None = None, **options: Any) -> None:
        self.mails: list[tuple[Envelope, Session]] = []
        self.protocols: list[SMTP] = []
        self.senders: list[str] = []
        self.refuse: dict[str, str] = {}  # address -> the response to it
        self.connections, self.delay_s, self.open, self.most_open = 0, 0.0, 0, 0
        self._ssl, self._options = ssl_context, options
        self.server: asyncio.Server | None = None
        self.port, self.busy = 0, asyncio.Event()
        self.at_once = 0  # how many messages must have been sent concurrently before any is accepted

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.senders.append(address)
        if address in self.refuse:
            return self.refuse[address]
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        self.open += 1
        self.busy.set()
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(self.delay_s)
        while self.most_open < self.at_once:
            await asyncio.sleep(0.01)
        self.open -= 1
        self.mails.append((envelope, session))
        return "250 accepted"

    def _protocol(self) -> SMTP:
        self.connections += 1
        protocol = SMTP(self, hostname="receiver.test", loop=asyncio.get_running_loop(), **self._options)
        self.protocols.append(protocol)
        return protocol

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(self._protocol, "127.0.0.1", self.port, ssl=self._ssl)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self.server is not None
        self.server.close()
        for protocol in self.protocols:
            transport: Any = protocol.transport
            if transport is not None and not transport.is_closing():
                transport.abort()
        await self.server.wait_closed()
        await asyncio.sleep(0.01)

    def message(self) -> EmailMessage:
        [(envelope, _)] = self.mails
        assert envelope.original_content is not None
        return message_from_bytes(envelope.original_content, policy=policy.default)


@asynccontextmanager
async def receiving(**options: Any) -> AsyncIterator[Receiver]:
    receiver = Receiver(**options)
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.stop()


class Provider:
    """An HTTP server that sends canned responses and records each request as (first line, headers, body)."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[Any] = []  # bytes, NEVER or HANG_UP
        self.connections, self.url = 0, ""

    def answers_with(self, status: int, body: object, headers: str = "") -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = (
            f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n{headers}"
        )
        self.answers.append(head.encode() + b"\r\n" + payload)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.connections = number
        while head := await reader.readuntil(b"\r\n\r\n"):
            first, *lines = head.decode().strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.requests.append((first, headers, body))
            answer = self.answers.pop(0)
            if answer is NEVER:
                await reader.read()
            if answer in {NEVER, HANG_UP}:
                return
            last = headers.get("connection") == "close"  # RFC 9112 section 9.6
            writer.write(answer.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1) if last else answer)
            if last:
                return


@asynccontextmanager
async def api_server() -> AsyncIterator[Provider]:
    provider = Provider()
    async with scripted(provider.serve) as (port, _):
        provider.url = f"http://127.0.0.1:{port}"
        yield provider


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with api_server() as server:
        yield server
