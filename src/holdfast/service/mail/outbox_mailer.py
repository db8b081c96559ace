"""The mailer for development: writes mail to files in the outbox, and the code to the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery import outbox
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import compose, render
from holdfast.service.mail.notice_mail import render_notice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from holdfast.service.mail.code_mail import CodeMail, MailIdentity
    from holdfast.service.mail.port import Notice


class OutboxMailer:
    """A Mailer that writes `.eml` files.

    For development only: anyone who can read the folder or the log can use the codes.
    """

    def __init__(self, folder: Path, identity: MailIdentity) -> None:
        self._folder = folder
        self._identity = identity

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Write the mail to a new file. Raises DeliveryError."""
        file = await self._written(recipient, lambda: render(self._identity, code, lifetime_s))
        outbox.log.info("e-mail code %s (development outbox: %s)", code, file)

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        """Write the mail to a new file. Raises DeliveryError."""
        file = await self._written(recipient, lambda: render_notice(self._identity, notice))
        outbox.log.info("e-mail about a recovery (development outbox: %s)", file)

    async def _written(self, recipient: str, mail: Callable[[], CodeMail]) -> Path:
        try:
            message = compose(self._identity, recipient_address(recipient), mail())
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address", of_recipient=True) from None
        return await outbox.put(self._folder, ".eml", message.as_bytes())

    async def check(self) -> str:
        """Make the folder. Raises DeliveryError."""
        return await outbox.checked(self._folder)

    async def close(self) -> None:
        """Do nothing, because nothing is open."""
