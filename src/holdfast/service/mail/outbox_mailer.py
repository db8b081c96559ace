"""The mailer for development: writes mail to files in the outbox, and the code to the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery import outbox
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import compose, render

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.mail.code_mail import MailIdentity


class OutboxMailer:
    """A Mailer that writes `.eml` files.

    For development only: anyone who can read the folder or the log can use the codes.
    """

    def __init__(self, folder: Path, identity: MailIdentity) -> None:
        self._folder = folder
        self._identity = identity

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Write the mail to a new file. Raises DeliveryError."""
        try:
            message = compose(self._identity, recipient_address(recipient), render(self._identity, code, lifetime_s))
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address") from None
        file = await outbox.put(self._folder, ".eml", message.as_bytes())
        outbox.log.info("e-mail code %s (development outbox: %s)", code, file)

    async def check(self) -> str:
        """Make the folder. Raises DeliveryError."""
        return await outbox.checked(self._folder)

    async def close(self) -> None:
        """Do nothing, because nothing is open."""
