"""`Pinning`, the blocking form of `AsyncPinning`.

Written by `tools/blocking_client.py` from `holdfast/client/storage/pinning.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.blocking.loop import run
from holdfast.client.storage.pinning import AsyncPinning
from holdfast.wire.retries import SNAPSHOTS

if TYPE_CHECKING:
    import httpx2

    from holdfast.client.http.calls import Retries
    from holdfast.client.storage.pinning import PinPage, PinReport, TokenSource
    from holdfast.client.types import PinRequest


class Pinning:
    """A client for one account on one pinning service.

    Raises RequestRefused, NetworkError; StorageError if a pin fails.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncPinning

    def __init__(
        self,
        endpoint: str,
        access_token: str | TokenSource,
        *,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._asynchronous = AsyncPinning(endpoint, access_token, retries=retries, transport=transport)

    def list(self, **chosen: object) -> list[PinReport]:
        """Return a list of pins, newest first, for the same filters as `page`."""
        return run(self._asynchronous.list(**chosen))

    def page(self, **chosen: Any) -> PinPage:
        """Return the pins that match `cids`, `name`, `match`, `statuses`, `before`, `after` (RFC 3339) and `meta`.

        `match` says how `name` is compared. The page has at most `limit` pins, by default 10, newest first. Raises
        ValueError for a filter that the API does not allow.
        """
        return run(self._asynchronous.page(**chosen))

    def add(self, pin: PinRequest) -> PinReport:
        """Request a pin. Raises ValueError for one that the API does not allow."""
        return run(self._asynchronous.add(pin))

    def get(self, request_id: str) -> PinReport:
        """Return a pin's state."""
        return run(self._asynchronous.get(request_id))

    def replace(self, request_id: str, pin: PinRequest) -> PinReport:
        """Replace one pin with another in a single request. Raises ValueError for one that the API does not allow."""
        return run(self._asynchronous.replace(request_id, pin))

    def delete(self, request_id: str) -> None:
        """Remove a pin."""
        run(self._asynchronous.delete(request_id))

    def wait(
        self, request_id: str, *, within_s: float = SNAPSHOTS.pin_within_s, poll_s: float = SNAPSHOTS.pin_look_s
    ) -> PinReport:
        """Wait until the pin's status is "pinned", and return the pin.

        Raises StorageError if it fails or takes longer than `within_s` seconds.
        """
        return run(self._asynchronous.wait(request_id, within_s=within_s, poll_s=poll_s))

    def close(self) -> None:
        """Close the connections."""
        run(self._asynchronous.close())
