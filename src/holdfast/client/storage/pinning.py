"""A client for a remote pinning service (IPFS Pinning Service API 1.0.0), which may be Holdfast's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec

from holdfast.client.http.calls import Call, Reply, Retries
from holdfast.client.http.transport import HttpTransport
from holdfast.client.types import PinInfo, PinRequest, PinStatus, Record
from holdfast.wire.client_errors import StorageError
from holdfast.wire.pinning import DEFAULT_LIMIT, MAX_CIDS, MAX_LIMIT, MAX_ORIGINS, ORIGIN, Match
from holdfast.wire.retries import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

T = TypeVar("T")

MAX_META = 1000
# Returns a bearer token for one request: Holdfast's service accepts each token for only one new pin.
TokenSource = Callable[[], Awaitable[str]]


class PinReport(PinInfo, frozen=True, kw_only=True):
    """A pin, and what the service reports about it; `info.status_details` explains its current status."""

    info: dict[str, str] | None = None


class PinPage(Record, frozen=True, kw_only=True):
    """One page of pins, newest first; `count` is the total number of matching pins."""

    count: int
    results: tuple[PinReport, ...]


class PinFailed(StorageError):
    """The pinning service gave up on a pin. `details` is its `status_details`, or None."""

    def __init__(self, details: str | None) -> None:
        super().__init__(f"the pinning service reports that the pin failed: {details or 'it gives no reason'}")
        self.details = details


def selection(  # noqa: PLR0913 - each is a parameter of the API, by keyword
    *,
    cids: tuple[str, ...] = (),
    name: str | None = None,
    match: str | None = None,
    statuses: tuple[PinStatus, ...] = tuple(PinStatus),
    before: str | None = None,
    after: str | None = None,
    meta: Mapping[str, str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, str]:
    """Return the query parameters for GET /pins. Without `status`, a service lists only pins whose status is "pinned".

    Raises ValueError for what the API does not allow.
    """
    if not 0 < limit <= MAX_LIMIT or len(cids) > MAX_CIDS or len(set(cids)) != len(cids):
        raise ValueError(f"limit: 1 to {MAX_LIMIT}; cids: at most {MAX_CIDS} different ones")
    if match not in {None, *Match} or not statuses or len(set(statuses)) != len(statuses):
        raise ValueError(f"match: one of {', '.join(Match)}; statuses: one or more different ones")
    query = {"status": ",".join(statuses), "limit": str(limit), "cid": ",".join(cids), "name": name, "match": match}
    query |= {"before": before, "after": after, "meta": msgspec.json.encode(meta).decode() if meta else None}
    return {key: value for key, value in query.items() if value}


class AsyncPinning:
    """A client for one account on one pinning service.

    Raises RequestRefused, NetworkError; StorageError if a pin fails.
    """

    def __init__(
        self,
        endpoint: str,
        access_token: str | TokenSource,
        *,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._token = access_token
        self._http = HttpTransport(endpoint, retries=retries, transport=transport)

    async def list(self, **chosen: object) -> list[PinReport]:
        """Return a list of pins, newest first, for the same filters as `page`."""
        return list((await self.page(**chosen)).results)

    async def page(self, **chosen: Any) -> PinPage:
        """Return the pins that match `cids`, `name`, `match`, `statuses`, `before`, `after` (RFC 3339) and `meta`.

        `match` says how `name` is compared. The page has at most `limit` pins, by default 10, newest first. Raises
        ValueError for a filter that the API does not allow.
        """
        return await self._send(Call(method="GET", path="/pins", query=selection(**chosen), read=_read_list))

    async def add(self, pin: PinRequest) -> PinReport:
        """Request a pin. Raises ValueError for one that the API does not allow."""
        return await self._send(Call(method="POST", path="/pins", body=_checked(pin).to_json(), read=_read_one))

    async def get(self, request_id: str) -> PinReport:
        """Return a pin's state."""
        return await self._send(Call(method="GET", path=_path(request_id), read=_read_one))

    async def replace(self, request_id: str, pin: PinRequest) -> PinReport:
        """Replace one pin with another in a single request. Raises ValueError for one that the API does not allow."""
        body = _checked(pin).to_json()
        return await self._send(Call(method="POST", path=_path(request_id), body=body, read=_read_one))

    async def delete(self, request_id: str) -> None:
        """Remove a pin."""
        await self._send(Call(method="DELETE", path=_path(request_id), read=lambda _reply: None))

    async def wait(
        self, request_id: str, *, within_s: float = SNAPSHOTS.pin_within_s, poll_s: float = SNAPSHOTS.pin_look_s
    ) -> PinReport:
        """Wait until the pin's status is "pinned", and return the pin.

        Raises StorageError if it fails or takes longer than `within_s` seconds.
        """
        deadline = time.monotonic() + within_s
        while True:
            pin = await self.get(request_id)
            if pin.status is PinStatus.FAILED:
                raise PinFailed((pin.info or {}).get("status_details"))
            if pin.status is PinStatus.PINNED:
                return pin
            if time.monotonic() > deadline:
                raise StorageError("the pin was not complete in time")
            await asyncio.sleep(poll_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def _send(self, call: Call[T]) -> T:
        token = self._token if isinstance(self._token, str) else await self._token()
        authorized = replace(call, headers={**call.headers, "Authorization": f"Bearer {token}"})
        return await self._http.send(authorized)


def _checked(pin: PinRequest) -> PinRequest:
    origins = pin.origins or ()
    if len(pin.meta or {}) > MAX_META:
        raise ValueError(f"a pin's meta has at most {MAX_META} entries")
    if len(origins) > MAX_ORIGINS or len(set(origins)) != len(origins):
        raise ValueError(f"a pin has at most {MAX_ORIGINS} different origins")
    if not all(ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError("an origin is a multiaddr that ends in /p2p/ and a peer ID")
    return pin


def _path(request_id: str) -> str:
    return f"/pins/{quote(request_id, safe='')}"


def _read_one(reply: Reply) -> PinReport:
    return _pin(msgspec.json.decode(reply.content))


def _read_list(reply: Reply) -> PinPage:
    answer = msgspec.json.decode(reply.content)
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise ValueError("no list of pins")  # noqa: TRY004 - one error for every malformed answer
    results = tuple(_pin(item) for item in answer["results"])
    count = answer.get("count")
    return PinPage(count=count if type(count) is int else len(results), results=results)


def _pin(answer: Any) -> PinReport:
    """Convert a pin from the API's spelling (`requestid`) to the interface's type (`requestId`)."""
    if not isinstance(answer, dict) or not isinstance(answer.get("pin"), dict):
        raise ValueError("no pin")  # noqa: TRY004 - one error for every malformed answer
    pin = {name: value for name, value in answer["pin"].items() if value is not None}
    return PinReport.from_json({**answer, "pin": pin, "requestId": answer.get("requestid")})
