"""Sends mail through the operator's webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import render
from holdfast.service.mail.notice_mail import render_notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.service.delivery.webhook import Webhook
    from holdfast.service.mail.code_mail import CodeMail, MailIdentity
    from holdfast.service.mail.port import Notice

KIND = "code.email"
NOTICE_KIND = "recovery.email"


class WebhookMailer:
    """Mailer over a signed webhook. The receiver sends the texts on, or other texts with the code."""

    def __init__(self, hook: Webhook, identity: MailIdentity) -> None:
        self._hook = hook
        self._identity = identity

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code to the receiver. Raises DeliveryError unless it accepts the message."""
        more = {"code": code, "expires_in": lifetime_s}
        await self._send(KIND, recipient, lambda: render(self._identity, code, lifetime_s), more)

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        """Send the notice to the receiver. Raises DeliveryError unless it accepts the message."""
        more = {"notice": notice.kind, "account": notice.account}
        await self._send(NOTICE_KIND, recipient, lambda: render_notice(self._identity, notice), more)

    async def _send(
        self, kind: str, recipient: str, rendered: Callable[[], CodeMail], more: Mapping[str, object]
    ) -> None:
        try:
            to, mail = recipient_address(recipient), rendered()
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address", of_recipient=True) from None
        data = {"from": str(self._identity.sender), "to": to.addr_spec, **more}
        await self._hook.send(kind, {**data, "subject": mail.subject, "text": mail.text, "html": mail.html})

    async def check(self) -> str:
        """Check that the receiver accepts a signed message. Raises DeliveryError."""
        return await self._hook.check()

    async def close(self) -> None:
        """Do nothing, because the service closes the HTTP session."""
