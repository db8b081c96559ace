"""Sends mail by SMTP, over verified TLS and a few pooled connections, and sends no message twice."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import aiosmtplib

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import compose, render
from holdfast.service.mail.notice_mail import render_notice
from holdfast.service.mail.smtp_dialogue import (
    GARBAGE,
    SERVICE_UNAVAILABLE,
    abort,
    close_politely,
    content,
    delivery_errors,
    envelope,
    greet,
    hung_up,
    name_sender,
    was_reset,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from email.message import EmailMessage

    from holdfast.service.mail.code_mail import CodeMail, MailIdentity
    from holdfast.service.mail.port import Notice

    _Step = Callable[[aiosmtplib.SMTP, EmailMessage], Awaitable[None]]

Encryption = Literal["none", "tls", "starttls"]


@dataclass(frozen=True, slots=True, repr=False)
class SmtpServer:
    """The mail server and its limits. The class has no repr, so that logs cannot contain the password.

    Attributes:
        tls: trusted certificates; None for the system's.
        connections: the maximum number of connections that this process opens.
        total_s: time limit for one send, including waiting, in seconds.
        command_s: time limit for connecting and for each reply, in seconds.
        idle_s: how long an unused connection stays open, in seconds.
    """

    host: str
    port: int
    encryption: Encryption
    user: str
    password: str
    tls: ssl.SSLContext | None
    connections: int
    total_s: float = 15.0
    command_s: float = 10.0
    idle_s: float = 30.0


class SmtpMailer:
    """A Mailer that uses SMTP submission (RFC 6409) to `server`."""

    def __init__(self, server: SmtpServer, identity: MailIdentity) -> None:
        self.server = server
        self._identity = identity
        self._slots = asyncio.Semaphore(server.connections)
        self._idle: dict[aiosmtplib.SMTP, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._tls = server.tls

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code by mail. Raises DeliveryError unless the server accepted the message."""
        await self._send(recipient, lambda: render(self._identity, code, lifetime_s))

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        """Send the notice by mail. Raises DeliveryError unless the server accepted the message."""
        await self._send(recipient, lambda: render_notice(self._identity, notice))

    async def _send(self, recipient: str, mail: Callable[[], CodeMail]) -> None:
        try:
            message = compose(self._identity, recipient_address(recipient), mail())
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address", of_recipient=True) from None
        with delivery_errors():
            async with asyncio.timeout(self.server.total_s), self._slots:
                await self._deliver(message)

    async def check(self) -> str:
        """Check the server: connect, start TLS, sign in and send MAIL FROM, but no recipient. Raises DeliveryError."""
        with delivery_errors():
            async with asyncio.timeout(self.server.total_s):
                client = await self._connect()
                try:
                    await name_sender(client, self._identity.sender)
                    return self._described(client)
                finally:
                    await close_politely(client)

    async def close(self) -> None:
        """Close all pooled connections with QUIT."""
        for client in list(self._idle):
            self._retire(client)
        await asyncio.gather(*self._closing)

    async def _deliver(self, message: EmailMessage) -> None:
        """Send one message over a pooled connection, or over a new one if the pooled one is dead.

        Only the envelope may be sent again: a server that received the message may have accepted it, even if it did not
        reply.
        """
        client = await self._reused(message)
        if client is None:
            client = await self._connect()
            await self._guarded(client, message, envelope)
        try:
            await self._guarded(client, message, content)
        except (aiosmtplib.SMTPServerDisconnected, ConnectionError) as error:
            raise DeliveryError("unreachable", hung_up(error), perhaps_sent=True) from None
        self._keep(client)

    async def _reused(self, message: EmailMessage) -> aiosmtplib.SMTP | None:
        """Return a pooled connection that has accepted the envelope; None if no pooled connection is alive."""
        while self._idle:
            client, timer = self._idle.popitem()
            timer.cancel()
            if not client.is_connected:
                continue
            try:
                await self._guarded(client, message, envelope)
            except (aiosmtplib.SMTPServerDisconnected, ConnectionError):
                continue
            except aiosmtplib.SMTPResponseException as error:
                if error.code != SERVICE_UNAVAILABLE:
                    raise
            else:
                return client
        return None

    async def _guarded(self, client: aiosmtplib.SMTP, message: EmailMessage, step: _Step) -> None:
        """Take one step of the dialogue. A refusal leaves the connection open; any other error closes it."""
        try:
            await step(client, message)
        except aiosmtplib.SMTPResponseException as error:
            if error.code in {SERVICE_UNAVAILABLE, GARBAGE} or not await was_reset(client):
                abort(client)
            else:
                self._keep(client)
            raise
        except BaseException:
            abort(client)
            raise

    async def _connect(self) -> aiosmtplib.SMTP:
        server = self.server
        if server.encryption != "none" and self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            username=server.user.encode() or None,
            password=server.password.encode() or None,
            local_hostname=self._identity.sender.domain,
            timeout=server.command_s,
            use_tls=server.encryption == "tls",
            start_tls=server.encryption == "starttls",
            tls_context=self._tls,
        )
        await client.connect()
        try:
            await greet(client)
        except BaseException:
            abort(client)
            raise
        return client

    def _keep(self, client: aiosmtplib.SMTP) -> None:
        if client.is_connected:
            loop = asyncio.get_running_loop()
            self._idle[client] = loop.call_later(self.server.idle_s, self._retire, client)

    def _retire(self, client: aiosmtplib.SMTP) -> None:
        timer = self._idle.pop(client)
        timer.cancel()
        closing = asyncio.get_running_loop().create_task(close_politely(client))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _described(self, client: aiosmtplib.SMTP) -> str:
        server = self.server
        tls = client.get_transport_info("ssl_object")
        protection = tls.version() if tls else "not encrypted"
        identity = "signed in" if server.user else "no sign-in"
        return f"SMTP server {server.host}:{server.port}, {protection}, {identity}"


def tls_context_of(ca_file: str) -> ssl.SSLContext:
    """Return a TLS context that trusts only the certificates in this file. Raises ValueError if the file has none."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError:  # ssl.SSLError is one
        raise ValueError("HOLDFAST_MAIL_URL: ca_file must name a readable PEM file of certificates.") from None
