"""One-time codes by SMS through Twilio Verify, which generates and checks them."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.delivery.http_exchange import exchange, refusal
from holdfast.service.delivery.provider_url import parse_base_url, parse_provider_url
from holdfast.wire.retries import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp


SETTING = "HOLDFAST_SMS_URL"
TWILIO_BASE_URL = "https://verify.twilio.com"
NOT_FOUND = 404
TOO_MANY = 429
MAX_CHECKS_REACHED = 60202  # Twilio's error code for a verification without attempts left
CODE_LIFETIME_S = 600.0  # https://www.twilio.com/docs/verify/api/rate-limits-and-timeouts
OVER = frozenset({"pending", "canceled", "max_attempts_reached", "deleted", "failed", "expired"})
_CODE = re.compile(r"[0-9A-Za-z]{4,10}")
_SID = re.compile(r"[A-Za-z0-9]{2,64}")


class TwilioVerifier:
    """An SmsVerifier that uses version 2 of Twilio's Verify API (https://www.twilio.com/docs/verify/api).

    Attributes:
        service_url: the address of the account's Verify service.
    """

    same_code_s = CODE_LIFETIME_S

    def __init__(
        self,
        account: str,
        token: str,
        service_url: str,
        http: Callable[[], aiohttp.ClientSession],
        timeout_s: float = 10,
    ) -> None:
        self._authorization = "Basic " + base64.b64encode(f"{account}:{token}".encode()).decode()
        self.service_url = service_url
        self._http = http
        self._timeout_s = timeout_s

    async def start(self, phone: str) -> None:
        """Let Twilio send a code. Raises DeliveryError unless Twilio says that the verification is pending."""
        status, answer = await self._ask("POST", "/Verifications", {"To": phone, "Channel": "sms"})
        if status not in SUCCESS:
            raise refusal(status)
        if answer.get("status") != "pending":
            raise DeliveryError("nonsense", f"HTTP {status} without a pending verification")

    async def check_code(self, phone: str, code: str) -> bool:
        """Return whether Twilio approves the code; False if there is no pending verification. Raises DeliveryError.

        Input that cannot be a valid code is not sent to Twilio: the rejection would look like an error in the service.
        """
        if not _CODE.fullmatch(code):
            return False
        status, answer = await self._ask("POST", "/VerificationCheck", {"To": phone, "Code": code})
        if status == NOT_FOUND or (status == TOO_MANY and answer.get("code") == MAX_CHECKS_REACHED):
            return False
        if status not in SUCCESS:
            raise refusal(status)
        judgement = answer.get("status")
        if judgement == "approved":
            return True
        if isinstance(judgement, str) and judgement in OVER:
            return False
        raise DeliveryError("nonsense", f"HTTP {status} without a verification's status")

    async def check(self) -> str:
        """Check the credentials by requesting the Verify service's description, which sends no message.

        Raises DeliveryError.
        """
        status, answer = await self._ask("GET", "", None)
        if status not in SUCCESS:
            raise refusal(status)
        if answer.get("sid") != self.service_url.rpartition("/")[2]:
            raise DeliveryError("nonsense", f"HTTP {status} without the Verify service")
        return f"Twilio Verify at {urlsplit(self.service_url).netloc}, token accepted"

    async def close(self) -> None:
        """Do nothing, because the service closes the HTTP session."""

    async def _ask(self, method: str, path: str, form: dict[str, str] | None) -> tuple[int, dict[str, Any]]:
        """Send one request over a new connection.

        No connection is pooled: Twilio has no idempotency keys, so a request that failed on a stale connection could
        not be sent again safely.
        """
        headers = {"Authorization": self._authorization, "Connection": "close"}
        url = self.service_url + path
        return await exchange(self._http, method, url, timeout_s=self._timeout_s, headers=headers, data=form)


def twilio_verifier(url: str, http: Callable[[], aiohttp.ClientSession]) -> TwilioVerifier:
    """Return the verifier for a `twilio:` URL. Raises ValueError that never repeats the URL."""
    form = f"{SETTING}: write twilio://ACCOUNT_SID:TOKEN@VERIFY_SERVICE_SID"
    if "@" not in url:
        raise ValueError(form)
    parts = parse_provider_url(SETTING, url, ("base_url",))
    if not _SID.fullmatch(parts.user) or not _SID.fullmatch(parts.host) or parts.port:
        raise ValueError(form)
    if not parts.password or not parts.password.isascii():
        raise ValueError(f"{SETTING}: the token after the account's SID is missing or not ASCII.")
    base_url = parse_base_url(SETTING, parts.options.get("base_url", TWILIO_BASE_URL))
    return TwilioVerifier(parts.user, parts.password, f"{base_url}/v2/Services/{parts.host}", http)
