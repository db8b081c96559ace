"""`Gateway`, the blocking form of `AsyncGateway`.

Written by `tools/blocking_client.py` from `holdfast/client/storage/gateway.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.blocking.loop import run
from holdfast.client.storage.gateway import AsyncGateway

if TYPE_CHECKING:
    import httpx

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore


class Gateway:
    """Reads blocks that the store lacks from a gateway, if there is one; they are verified and stored.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncGateway

    def __init__(
        self, gateway_url: str | None, store: VaultStore, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._asynchronous = AsyncGateway(gateway_url, store, transport=transport)

    def block(self, cid: str) -> bytes:
        """Return a block from the store, else from the gateway. Raises StorageError, NetworkError."""
        return run(self._asynchronous.block(cid))

    def snapshot(self, root_cid: str) -> Snapshot:
        """Return a whole snapshot. Raises StorageError, NetworkError."""
        return run(self._asynchronous.snapshot(root_cid))

    def close(self) -> None:
        """Close the connections."""
        run(self._asynchronous.close())
