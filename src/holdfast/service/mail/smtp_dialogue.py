"""The steps of an SMTP dialogue, and the conversion of its failures to DeliveryError."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiosmtplib

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.code_mail import is_international

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.headerregistry import Address
    from email.message import EmailMessage

SERVICE_UNAVAILABLE = 421  # the server closes the channel (RFC 5321 section 3.8)
_PERMANENT = 500  # and above: a refusal that another try does not change
GARBAGE = -1  # aiosmtplib's code for a reply that is not SMTP


async def greet(client: aiosmtplib.SMTP) -> None:
    """Send EHLO, unless connecting has already done so; if the server does not know EHLO, send HELO."""
    if client.is_ehlo_or_helo_needed:
        try:
            await client.ehlo()
        except aiosmtplib.SMTPHeloError:
            if not client.is_connected:
                raise
            await client.helo()


async def envelope(client: aiosmtplib.SMTP, message: EmailMessage) -> None:
    """Send MAIL and RCPT. Raises SMTPNotSupported for an international address on a server without SMTPUTF8."""
    sender, recipient = (message[name].addresses[0] for name in ("From", "To"))
    if not is_international(sender, recipient):
        await client.mail(sender.addr_spec)
        await client.rcpt(recipient.addr_spec)
        return
    if not client.supports_extension("smtputf8"):
        raise aiosmtplib.SMTPNotSupported("the server takes no internationalised addresses")
    await client.mail(sender.addr_spec, options=["SMTPUTF8", "BODY=8BITMIME"], encoding="utf-8")
    await client.rcpt(recipient.addr_spec, encoding="utf-8")


async def name_sender(client: aiosmtplib.SMTP, sender: Address) -> None:
    """Check whether the server accepts mail from this address: send MAIL and then RSET, without a recipient."""
    if is_international(sender):
        await client.mail(sender.addr_spec, options=["SMTPUTF8", "BODY=8BITMIME"], encoding="utf-8")
    else:
        await client.mail(sender.addr_spec)
    await client.rset()


async def content(client: aiosmtplib.SMTP, message: EmailMessage) -> None:
    """Send DATA.

    Once DATA has been sent, the message may have been delivered, even if the reply is an error or missing.
    """
    await client.data(message.as_bytes())


async def was_reset(client: aiosmtplib.SMTP) -> bool:
    """Send RSET; return whether the server accepted it, so that the connection can be reused after a refusal.

    If it is cancelled, the connection is closed.
    """
    try:
        await client.rset()
    except (aiosmtplib.SMTPException, OSError):
        return False
    except asyncio.CancelledError:
        abort(client)
        raise
    return True


async def close_politely(client: aiosmtplib.SMTP) -> None:
    """Send QUIT and close the connection. Errors and a missing reply are ignored; the wait is two seconds at most."""
    try:
        async with asyncio.timeout(2):
            await client.quit()
    except (aiosmtplib.SMTPException, OSError):
        pass
    finally:
        abort(client)


def abort(client: aiosmtplib.SMTP) -> None:
    """Close the connection without a TLS shutdown, which an unresponsive peer would delay."""
    abort = getattr(client.transport, "abort", None)  # uvloop's transports share no base class with asyncio's
    client.close()
    if abort is not None:
        abort()


@contextmanager
def delivery_errors() -> Iterator[None]:
    """Convert all failures to DeliveryError, without the server's text, which may quote the recipient."""
    try:
        yield
    except aiosmtplib.SMTPConnectTimeoutError:
        raise DeliveryError("timeout", "the mail server did not answer in time", perhaps_sent=False) from None
    except TimeoutError:  # SMTPTimeoutError is one
        raise DeliveryError("timeout", "the mail server did not answer in time") from None
    except aiosmtplib.SMTPResponseException as error:
        kind = "nonsense" if error.code == GARBAGE else "refused"
        detail = f"{_STEPS.get(type(error), 'the dialogue')} was answered {error.code}"
        of_recipient = isinstance(error, aiosmtplib.SMTPRecipientRefused) and error.code >= _PERMANENT
        raise DeliveryError(kind, detail, of_recipient=of_recipient) from None
    except ssl.SSLCertVerificationError as error:
        raise DeliveryError("unreachable", f"certificate not trusted: {error.verify_message}") from None
    except OSError as error:  # SMTPConnectError and SMTPServerDisconnected are too
        raise DeliveryError("unreachable", hung_up(error)) from None
    except (aiosmtplib.SMTPException, ValueError) as error:
        missing = isinstance(error, aiosmtplib.SMTPNotSupported)
        raise DeliveryError("refused", _NO_SMTPUTF8 if missing else _NO_EXTENSION) from None


def hung_up(error: BaseException) -> str:
    """Return why the connection failed or ended, without text that the server chose."""
    cause = error.__cause__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate not trusted: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return "TLS could not be agreed on"
    return "the mail server cannot be reached or hung up"


_NO_SMTPUTF8 = "the mail server takes no internationalised addresses (SMTPUTF8)"
_NO_EXTENSION = "the mail server lacks STARTTLS or sign-in, which the setting asks for"
_STEPS: dict[type[aiosmtplib.SMTPResponseException], str] = {
    aiosmtplib.SMTPConnectResponseError: "connecting",
    aiosmtplib.SMTPHeloError: "the greeting",
    aiosmtplib.SMTPAuthenticationError: "sign-in",
    aiosmtplib.SMTPSenderRefused: "the sender",
    aiosmtplib.SMTPRecipientRefused: "the recipient",
    aiosmtplib.SMTPDataError: "the message",
}
