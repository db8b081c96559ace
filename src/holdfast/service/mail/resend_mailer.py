"""Mail through an HTTP API in Resend's wire format (https://resend.com/docs/api-reference/emails/send-email)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.http_exchange import exchange, refusal
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import render
from holdfast.service.mail.notice_mail import render_notice
from holdfast.wire.retries import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

    from holdfast.service.mail.code_mail import CodeMail, MailIdentity
    from holdfast.service.mail.port import Notice

SEND_ONLY_KEY = "restricted_api_key"  # a key with permission only to send


class ResendMailer:
    """Mailer over `POST {base_url}/emails`."""

    def __init__(
        self,
        key: str,
        base_url: str,
        http: Callable[[], aiohttp.ClientSession],
        identity: MailIdentity,
        timeout_s: float = 10,
    ) -> None:
        self._authorization = {"Authorization": f"Bearer {key}"}
        self._base_url = base_url
        self._http = http
        self._identity = identity
        self._timeout_s = timeout_s

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code through the API. Raises DeliveryError unless it returned a message ID."""
        await self._send(recipient, lambda: render(self._identity, code, lifetime_s))

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        """Send the notice through the API. Raises DeliveryError unless it returned a message ID."""
        await self._send(recipient, lambda: render_notice(self._identity, notice))

    async def _send(self, recipient: str, rendered: Callable[[], CodeMail]) -> None:
        message, key = self._message(recipient, rendered)
        status, answer = await exchange(
            self._http,
            "POST",
            f"{self._base_url}/emails",
            repeatable=True,  # thanks to the idempotency key
            timeout_s=self._timeout_s,
            headers={**self._authorization, "Idempotency-Key": key},
            json=message,
        )
        if status not in SUCCESS:
            raise refusal(status)
        if not isinstance(answer.get("id"), str) or not answer["id"]:
            raise DeliveryError("nonsense", f"HTTP {status} without the message's ID")

    async def check(self) -> str:
        """Check the API by requesting the account's domains, which sends no mail. Raises DeliveryError."""
        status, answer = await exchange(
            self._http, "GET", f"{self._base_url}/domains", timeout_s=self._timeout_s, headers=self._authorization
        )
        if status not in SUCCESS and answer.get("name") != SEND_ONLY_KEY:
            raise refusal(status)
        return f"mail API at {urlsplit(self._base_url).netloc}, key accepted"

    async def close(self) -> None:
        """Do nothing, because the service closes the HTTP session."""

    def _message(self, recipient: str, rendered: Callable[[], CodeMail]) -> tuple[dict[str, Any], str]:
        """Return the message, and a key that is the same for a mail that is sent twice."""
        try:
            to, mail = recipient_address(recipient), rendered()
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address", of_recipient=True) from None
        message = {
            "from": str(self._identity.sender),
            "to": [to.addr_spec],
            "subject": mail.subject,
            "text": mail.text,
            "html": mail.html,
            "headers": {"Auto-Submitted": "auto-generated"},
        }
        return message, str(uuid.uuid5(uuid.NAMESPACE_URL, mail.name + to.addr_spec) if mail.name else uuid.uuid4())
