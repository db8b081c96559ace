"""Mail through a webhook of the operator's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import render

if TYPE_CHECKING:
    from holdfast.service.delivery.webhook import Webhook
    from holdfast.service.mail.code_mail import MailIdentity

KIND = "code.email"


class WebhookMailer:
    """Mailer over a signed webhook. The receiver sends the texts on, or other texts with the code."""

    def __init__(self, hook: Webhook, identity: MailIdentity) -> None:
        self._hook = hook
        self._identity = identity

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code to the receiver. Raises DeliveryError unless it accepts the message."""
        try:
            to, mail = recipient_address(recipient), render(self._identity, code, lifetime_s)
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address") from None
        data = {"from": str(self._identity.sender), "to": to.addr_spec, "code": code, "expires_in": lifetime_s}
        await self._hook.send(KIND, {**data, "subject": mail.subject, "text": mail.text, "html": mail.html})

    async def check(self) -> str:
        """Check that the receiver accepts a signed message. Raises DeliveryError."""
        return await self._hook.check()

    async def close(self) -> None:
        """Do nothing, because the service closes the HTTP session."""
