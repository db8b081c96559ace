"""The ERC-4337 bundler behind POST /api/bundler."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.service.telemetry.calls import calling
from holdfast.service.upstreams.proxy import UpstreamError, fetch
from holdfast.wire.errors import BUNDLER_ERROR, BUNDLER_NOT_CONFIGURED, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

_log = logging.getLogger("holdfast.proxies")
_skip = msgspec.json.Decoder(msgspec.Raw).decode
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class BundlerProxy:
    """Forwards requests to the bundler at `url`, which is None if no bundler is configured."""

    url: str | None
    session: Callable[[], aiohttp.ClientSession]

    async def forward(self, request: bytes) -> bytes | bytearray:
        """Return the response to an allowed request. Raises Refused(BUNDLER_NOT_CONFIGURED), Refused(BUNDLER_ERROR)."""
        if self.url is None:
            raise Refused(BUNDLER_NOT_CONFIGURED)
        try:
            with calling("bundler"):
                answer = await fetch(self.session, "POST", self.url, _HEADERS, request)
                _require_json(answer.body)
        except UpstreamError as error:
            _log.warning("bundler failed", extra={"why": str(error)})
            raise Refused(BUNDLER_ERROR) from None
        return answer.body


def _require_json(body: bytes | bytearray) -> None:
    """Check the syntax alone: to build all values of a long answer would hold up other requests."""
    try:
        body.decode()
        # The decoder refuses a lone surrogate, which JSON's grammar allows; another digit leaves the syntax as it is.
        _skip(body.replace(b"\\ud", b"\\u0").replace(b"\\uD", b"\\u0"))
    except (ValueError, RecursionError):
        raise UpstreamError("the answer is not JSON") from None
