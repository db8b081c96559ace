"""`Pinning`, the blocking form of `AsyncPinning`.

Written by `tools/blocking_client.py` from `holdfast/client/storage/pinning.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.blocking.loop import run
from holdfast.client.storage.pinning import POLL_S, WAIT_S, AsyncPinning

if TYPE_CHECKING:
    import httpx

    from holdfast.client.http.calls import Retries
    from holdfast.client.types import PinInfo, PinRequest


class Pinning:
    """One account at one pinning service. Raises RequestRefused, NetworkError; StorageError if a pin fails.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncPinning

    def __init__(
        self,
        endpoint: str,
        access_token: str,
        *,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._asynchronous = AsyncPinning(endpoint, access_token, retries=retries, transport=transport)

    def list(self, **chosen: Any) -> list[PinInfo]:
        """Return at most `limit` pins, filtered by `cids`, `name` and `statuses`, newest first."""
        return run(self._asynchronous.list(**chosen))

    def add(self, pin: PinRequest) -> PinInfo:
        """Request a pin."""
        return run(self._asynchronous.add(pin))

    def get(self, request_id: str) -> PinInfo:
        """Return a pin's state."""
        return run(self._asynchronous.get(request_id))

    def replace(self, request_id: str, pin: PinRequest) -> PinInfo:
        """Replace a pin with another in one step."""
        return run(self._asynchronous.replace(request_id, pin))

    def delete(self, request_id: str) -> None:
        """Remove a pin."""
        run(self._asynchronous.delete(request_id))

    def wait(self, request_id: str, *, within_s: float = WAIT_S, poll_s: float = POLL_S) -> PinInfo:
        """Wait until the pin is complete. Raises StorageError if it fails or takes longer than `within_s`."""
        return run(self._asynchronous.wait(request_id, within_s=within_s, poll_s=poll_s))

    def close(self) -> None:
        """Close the connections."""
        run(self._asynchronous.close())
