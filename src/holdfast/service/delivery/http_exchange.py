"""Sends one request to a provider's HTTP API, within limits of time and size. All failures become DeliveryError."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from holdfast import __version__
from holdfast.service.delivery.errors import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import aiohttp

TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 64 * 1024
FIRST_ERROR = 400
_OF_CONTENT = 422  # this message, and not those to others
_NO_ANSWER = 504  # the API behind the gateway may have done what it was asked
# The HTTP session does not decompress responses, so an uncompressed response is requested. Some APIs require a
# User-Agent header.
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"Holdfast/{__version__}"}


async def exchange(
    session: Callable[[], aiohttp.ClientSession],
    method: str,
    url: str,
    *,
    repeatable: bool = False,
    timeout_s: float = TIMEOUT_S,
    headers: Mapping[str, str],
    **request: object,
) -> tuple[int, dict[str, object]]:
    """Return the response's status and JSON object; an empty object if the body is not a JSON object.

    Args:
        session: returns the pooled HTTP session.
        method: HTTP method.
        url: complete address.
        repeatable: whether the provider recognises a repeated request, so that it may be sent again if its pooled
        connection turns out to be closed.
        timeout_s: time limit in seconds, including the repetition.
        headers: headers in addition to those that every API gets.
        request: further arguments of aiohttp's `request`.

    Raises:
        DeliveryError: 'timeout', 'unreachable', or 'nonsense' for a response that is not HTTP.
    """
    import aiohttp  # slow to import, and only the first send needs it

    request["headers"] = {**_HEADERS, **headers}
    try:
        async with asyncio.timeout(timeout_s):
            try:
                return await _once(session(), method, url, request)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not repeatable:
                    raise
                return await _once(session(), method, url, request)
    except TimeoutError:
        raise DeliveryError("timeout", "the provider did not answer in time") from None
    except (aiohttp.ClientResponseError, aiohttp.ClientPayloadError):
        raise DeliveryError("nonsense", "the provider's answer is not HTTP") from None
    except (aiohttp.ClientError, OSError) as error:
        connected = not isinstance(error, aiohttp.ClientConnectorError)
        reason = "the provider cannot be reached or hung up"
        raise DeliveryError("unreachable", reason, perhaps_sent=connected) from None


def refusal(status: int) -> DeliveryError:
    """Return the error for a response that the provider's API does not document."""
    kind = "refused" if status >= FIRST_ERROR else "nonsense"
    unanswered = True if status == _NO_ANSWER else None
    return DeliveryError(kind, f"HTTP {status}", perhaps_sent=unanswered, of_recipient=status == _OF_CONTENT)


async def _once(
    session: aiohttp.ClientSession, method: str, url: str, request: Mapping[str, Any]
) -> tuple[int, dict[str, Any]]:
    """Send once. Redirects are not followed, because they could send the credentials to another server."""
    async with session.request(method, url, allow_redirects=False, raise_for_status=False, **request) as response:
        return response.status, _object(await _read(response))


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body; an empty one if it is longer than any response that these APIs document."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            response.close()
            return b""
    return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
