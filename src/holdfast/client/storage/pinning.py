"""Pins at a remote service (IPFS Pinning Service API 1.0)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from holdfast.client.http.calls import Call, Reply, Retries
from holdfast.client.http.transport import HttpTransport
from holdfast.client.types import PinInfo, PinRequest, PinStatus
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

# The table of a pin's transitions (docs: decisions, "Vault formats"): queued, pinning, pinned or failed; retry.
PIN_MOVES: dict[PinStatus, frozenset[PinStatus]] = {
    PinStatus.QUEUED: frozenset({PinStatus.PINNING}),
    PinStatus.PINNING: frozenset({PinStatus.PINNED, PinStatus.FAILED}),
    PinStatus.PINNED: frozenset(),
    PinStatus.FAILED: frozenset({PinStatus.QUEUED}),
}
FINAL = frozenset({PinStatus.PINNED, PinStatus.FAILED})
WAIT_S = 600.0
POLL_S = 1.0


def may_become(old: PinStatus, new: PinStatus) -> bool:
    """Return whether a pin that was `old` may later be `new`, perhaps by transitions between the two polls."""
    seen, reachable = {old}, {old}
    while reachable:
        reachable = {after for before in reachable for after in PIN_MOVES[before]} - seen
        seen |= reachable
    return new in seen


def list_call(query: Mapping[str, str]) -> Call[list[PinInfo]]:
    """GET /pins."""
    return Call(method="GET", path="/pins", query=query, read=_read_list)


def add_call(pin: PinRequest) -> Call[PinInfo]:
    """POST /pins."""
    return Call(method="POST", path="/pins", body=pin.to_json(), read=_read_one)


def get_call(request_id: str) -> Call[PinInfo]:
    """GET /pins/{requestid}."""
    return Call(method="GET", path=_path(request_id), read=_read_one)


def replace_call(request_id: str, pin: PinRequest) -> Call[PinInfo]:
    """POST /pins/{requestid}."""
    return Call(method="POST", path=_path(request_id), body=pin.to_json(), read=_read_one)


def delete_call(request_id: str) -> Call[None]:
    """DELETE /pins/{requestid}."""
    return Call(method="DELETE", path=_path(request_id), read=lambda _reply: None)


def selection(
    *,
    cids: tuple[str, ...] = (),
    name: str | None = None,
    statuses: tuple[PinStatus, ...] = tuple(PinStatus),
    limit: int = 10,
) -> dict[str, str]:
    """Return the query of GET /pins. Without `status`, a service lists only pinned ones."""
    query = {"status": ",".join(statuses), "limit": str(limit)}
    if cids:
        query["cid"] = ",".join(cids)
    if name is not None:
        query["name"] = name
    return query


class AsyncPinning:
    """One account at one pinning service. Raises RequestRefused, NetworkError; StorageError if a pin fails."""

    def __init__(
        self,
        endpoint: str,
        access_token: str,
        *,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {access_token}"}
        self._http = HttpTransport(endpoint, retries=retries, transport=transport, headers=headers)

    async def list(self, **chosen: Any) -> list[PinInfo]:
        """Return at most `limit` pins, filtered by `cids`, `name` and `statuses`, newest first."""
        return await self._http.send(list_call(selection(**chosen)))

    async def add(self, pin: PinRequest) -> PinInfo:
        """Request a pin."""
        return await self._http.send(add_call(pin))

    async def get(self, request_id: str) -> PinInfo:
        """Return a pin's state."""
        return await self._http.send(get_call(request_id))

    async def replace(self, request_id: str, pin: PinRequest) -> PinInfo:
        """Replace a pin with another in one step."""
        return await self._http.send(replace_call(request_id, pin))

    async def delete(self, request_id: str) -> None:
        """Remove a pin."""
        await self._http.send(delete_call(request_id))

    async def wait(self, request_id: str, *, within_s: float = WAIT_S, poll_s: float = POLL_S) -> PinInfo:
        """Wait until the pin is complete. Raises StorageError if it fails or takes longer than `within_s`."""
        deadline = time.monotonic() + within_s
        while True:
            found = pinned_or_none(await self.get(request_id))
            if found is not None:
                return found
            _check_time(deadline)
            await asyncio.sleep(poll_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()


def pinned_or_none(pin: PinInfo) -> PinInfo | None:
    """Return the pin if it is complete, None while it is in progress. Raises StorageError if it failed."""
    if pin.status is PinStatus.FAILED:
        raise StorageError("the pinning service reports that the pin failed")
    return pin if pin.status is PinStatus.PINNED else None


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise StorageError("the pin was not complete in time")


def _path(request_id: str) -> str:
    return f"/pins/{quote(request_id, safe='')}"


def _read_one(reply: Reply) -> PinInfo:
    return _pin(msgspec.json.decode(reply.content))


def _read_list(reply: Reply) -> list[PinInfo]:
    answer = msgspec.json.decode(reply.content)
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise ValueError("the answer is not a list of pins")  # noqa: TRY004 - one error for every malformed answer
    return [_pin(item) for item in answer["results"]]


def _pin(answer: Any) -> PinInfo:
    """Convert a pin from the API's names (`requestid`) to the interface's (`requestId`)."""
    if not isinstance(answer, dict):
        raise ValueError("no pin")  # noqa: TRY004 - one error for every malformed answer
    return PinInfo.from_json({**answer, "requestId": answer.get("requestid")})
