"""Reads blocks from an IPFS gateway and verifies each byte against its CID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.http.calls import Call
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage import snapshots
from holdfast.client.storage.content import Block, link, verified
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    import httpx

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore

_NO_GATEWAY = "the block is not in the store, and no gateway is configured"


def block_call(cid: str) -> Call[bytes]:
    """GET /ipfs/{cid}?format=raw (trustless gateway). Raises StorageError if the bytes do not match the CID."""
    link(cid)
    return Call(
        method="GET", path=f"/ipfs/{cid}", query={"format": "raw"}, read=lambda reply: verified(cid, reply.content)
    )


class AsyncGateway:
    """Reads blocks that the store lacks from a gateway, if there is one; they are verified and stored."""

    def __init__(
        self, gateway_url: str | None, store: VaultStore, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._http = HttpTransport(gateway_url, transport=transport) if gateway_url else None
        self._store = store

    async def block(self, cid: str) -> bytes:
        """Return a block from the store, else from the gateway. Raises StorageError, NetworkError."""
        kept = self._store.get_block(cid)
        if kept is not None:
            return kept
        if self._http is None:
            raise StorageError(_NO_GATEWAY)
        data = await self._http.send(block_call(cid))
        self._store.put_block(Block(cid, data))
        return data

    async def snapshot(self, root_cid: str) -> Snapshot:
        """Return a whole snapshot. Raises StorageError, NetworkError."""
        root = await self.block(root_cid)
        manifest, vault_cid = snapshots.parse_root(root_cid, root)
        return snapshots.assemble(root_cid, root, manifest, vault_cid, await self.block(vault_cid))

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()


def store_snapshot(store: VaultStore, snapshot: Snapshot) -> None:
    """Store a snapshot's blocks and name it in the vault's manifest. Raises StorageError."""
    for block in snapshot.blocks:
        store.put_block(block)
    stored = store.load(snapshot.manifest.did)
    if stored is None:
        raise StorageError("no such vault is stored")
    store.update_manifest(snapshot.following_manifest)


def snapshot_stored(store: VaultStore, did: str | None = None) -> Snapshot:
    """Store a snapshot of the newest stored revision and name it in its manifest. Raises StorageError."""
    stored = store.load(did)
    if stored is None:
        raise StorageError("no such vault is stored")
    taken = snapshots.take(stored.manifest, stored.sealed)
    store_snapshot(store, taken)
    return taken
