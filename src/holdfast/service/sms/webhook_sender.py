"""Sends SMS through the operator's webhook, with Holdfast's codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.sms.texts import message_of

if TYPE_CHECKING:
    from holdfast.service.delivery.webhook import Webhook

KIND = "code.sms"


class WebhookSmsSender:
    """SmsSender over a signed webhook."""

    def __init__(self, hook: Webhook, host: str) -> None:
        self._hook = hook
        self._host = host

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code to the receiver. Raises DeliveryError unless it accepts the message."""
        data = {"to": recipient, "code": code, "expires_in": lifetime_s, "text": message_of(code, self._host)}
        await self._hook.send(KIND, data)

    async def check(self) -> str:
        """Check that the receiver accepts a signed message. Raises DeliveryError."""
        return await self._hook.check()

    async def close(self) -> None:
        """Do nothing, because the service closes the HTTP session."""
