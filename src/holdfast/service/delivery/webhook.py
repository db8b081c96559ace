"""Sends messages to the operator's own sender of mail or SMS, as signed webhooks (Standard Webhooks 1.0)."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.webhooks import signature
from holdfast.service.delivery.http_exchange import exchange, refusal
from holdfast.wire.hosts import is_this_machine
from holdfast.wire.retries import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import aiohttp

SCHEME_PREFIX = "webhook+"
SECRET_SETTING = "HOLDFAST_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
CHECK = "check"
FIRST_SERVER_ERROR = 500
NOT_IMPLEMENTED = 501


@dataclass(frozen=True, slots=True, repr=False)
class Webhook:
    """An address that takes messages. The class has no repr, so that logs cannot contain the secrets."""

    url: str
    keys: Sequence[bytes]
    http: Callable[[], aiohttp.ClientSession]

    async def send(
        self, kind: str, data: Mapping[str, object], message_id: str | None = None, at: float | None = None
    ) -> None:
        """Send one message. Raises DeliveryError unless the receiver answers with a status of 200 to 299.

        After a lost connection the message is sent once more, with the same `webhook-id`.

        Args:
            kind: the message's type.
            data: its contents.
            message_id: the `webhook-id`; a new one by default.
            at: when what it tells happened, in seconds since the epoch; now by default.
        """
        now = time.time()
        message_id = message_id or f"msg_{secrets.token_hex(16)}"
        happened = datetime.fromtimestamp(now if at is None else at, UTC).isoformat()
        body = json.dumps({"type": kind, "timestamp": happened, "data": data}, ensure_ascii=False).encode()
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now)),
            "webhook-signature": signature(self.keys, message_id, int(now), body),
        }
        status, _ = await exchange(self.http, "POST", self.url, repeatable=True, headers=headers, data=body)
        if status not in SUCCESS:
            raise refusal(status)

    async def check(self) -> str:
        """Send a message of type `check`, from which the receiver sends nothing on. Raises DeliveryError."""
        await self.send(CHECK, {})
        return f"webhook at {self._host}, message accepted"

    async def reach(self) -> str:
        """Ask without a message whether a server answers. Raises DeliveryError if none does, or one that is failing.

        A server that does not implement HEAD answers 501.
        """
        status, _ = await exchange(self.http, "HEAD", self.url, repeatable=True, headers={})
        if status >= FIRST_SERVER_ERROR and status != NOT_IMPLEMENTED:
            raise refusal(status)
        return f"webhook at {self._host} answers"

    @property
    def _host(self) -> str:
        return urlsplit(self.url).netloc


def webhook_of(setting: str, url: str, keys: Sequence[bytes], http: Callable[[], aiohttp.ClientSession]) -> Webhook:
    """Return the webhook for a `webhook+https:` URL. Raises ValueError that never repeats the URL."""
    address = url[len(SCHEME_PREFIX) :]
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "") if parts.port != 0 else ""
    except ValueError:
        host = ""
    if not host or "@" in parts.netloc or parts.fragment or not address.isascii() or not address.isprintable():
        raise ValueError(f"{setting}: write webhook+https://host/path, without credentials.")
    if parts.scheme != "https" and not is_this_machine(host):
        raise ValueError(f"{setting}: webhook+http:// is for this machine; write webhook+https://host/path.")
    if not keys:
        raise ValueError(f"{SECRET_SETTING}: a webhook needs a secret that signs its messages (holdfast keys webhook)")
    return Webhook(address, keys, http)
