"""`Gateway`, the blocking form of `AsyncGateway`.

Written by `tools/blocking_client.py` from `holdfast/client/storage/gateway.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.blocking.loop import run
from holdfast.client.storage.gateway import AsyncGateway

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2

    from holdfast.client.http.calls import Retries
    from holdfast.client.storage.name_records import NameAnswers, Patience
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.content.records import Record


class Gateway:
    """Reads blocks from the store; fetches missing blocks from any number of gateways, verifies them and stores them.

    Args:
        gateway_url: an address, or several in the order in which they are tried, or None.
        store: stores the blocks.

    A gateway that fails or returns wrong data is skipped, and from then on asked only for what the others lack. If all
    fail, the error says each one's reason.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncGateway

    def __init__(
        self,
        gateway_url: str | Sequence[str] | None,
        store: VaultStore | None,
        *,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._asynchronous = AsyncGateway(gateway_url, store, retries=retries, transport=transport, patience=patience)

    def block(self, cid: str) -> bytes:
        """Return a block from the store or, if the store lacks it, from a gateway.

        Raises StorageError, NetworkError.
        """
        return run(self._asynchronous.block(cid))

    def snapshot(self, root_cid: str) -> Snapshot:
        """Return a whole snapshot. Raises StorageError, NetworkError."""
        return run(self._asynchronous.snapshot(root_cid))

    def record(self, name: str) -> Record | None:
        """Return the newest record that any gateway has for an IPNS name, or None if no gateway that responds has one.

        Raises NetworkError if no gateway responds, StorageError for an invalid name or if all records are forged.
        """
        return run(self._asynchronous.record(name))

    def answers(self, name: str, *, absent_is_enough: bool = False) -> NameAnswers:
        """Return what the gateways answer about an IPNS name, and which of them do not answer.

        With `absent_is_enough`, the others are waited for only shortly after one has said that there is no record.
        Raises StorageError for an invalid name.
        """
        return run(self._asynchronous.answers(name, absent_is_enough=absent_is_enough))

    def close(self) -> None:
        """Close the connections."""
        run(self._asynchronous.close())
