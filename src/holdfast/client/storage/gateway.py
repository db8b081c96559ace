"""Reads blocks and IPNS records from IPFS gateways, and verifies everything that they return."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.client.http.calls import Call
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage import snapshots
from holdfast.content import records
from holdfast.content.cids import Block, bytes_of, verified
from holdfast.content.names import public_key_of
from holdfast.content.records import Change, Record, change
from holdfast.wire.client_errors import NetworkError, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from holdfast.client.http.calls import Retries
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore

_NO_GATEWAY = "the block is not here, and no gateway is configured"
_NOT_FOUND = 404
# The empty block that every trustless gateway serves (specification, "Probing").
PROBE: Call[None] = Call(
    method="GET",
    path="/ipfs/bafkqaaa",
    query={"format": "raw"},
    headers={"Accept": "application/vnd.ipld.raw"},
    read=lambda _reply: None,
)


def block_call(cid: str) -> Call[bytes]:
    """GET /ipfs/{cid}?format=raw (trustless gateway). Raises StorageError if the response is another block."""
    with snapshots.storage_errors():
        bytes_of(cid)
    return Call(
        method="GET",
        path=f"/ipfs/{cid}",
        query={"format": "raw"},
        headers={"Accept": "application/vnd.ipld.raw"},
        read=lambda reply: _verified(cid, reply.content),
    )


def record_call(name: str, *, routing: bool = False) -> Call[Record]:
    """Fetch and verify an IPNS record from a trustless gateway or, with `routing`, through HTTP Routing V1."""
    with snapshots.storage_errors():
        public_key = public_key_of(name)
    return Call(
        method="GET",
        path=f"/routing/v1/ipns/{name}" if routing else f"/ipns/{name}",
        query={} if routing else {"format": "ipns-record"},
        headers={"Accept": records.MEDIA_TYPE},
        read=lambda reply: records.read_record(public_key, reply.content),
    )


class AsyncGateway:
    """Reads blocks from the store; fetches missing blocks from any number of gateways, verifies them and stores them.

    Args:
        gateway_url: an address, or several in the order in which they are tried, or None.
        store: stores the blocks.

    A gateway that fails or returns wrong data is skipped; only if all do, the first one's error is raised.
    """

    def __init__(
        self,
        gateway_url: str | Sequence[str] | None,
        store: VaultStore | None,
        *,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        urls = [gateway_url] if isinstance(gateway_url, str) else list(gateway_url or ())
        self._http = [HttpTransport(url, retries=retries, transport=transport) for url in urls]
        self._store = store

    async def block(self, cid: str) -> bytes:
        """Return a block from the store or, if the store lacks it, from a gateway.

        Raises StorageError, NetworkError.
        """
        kept = await asyncio.to_thread(self._store.get_block, cid) if self._store else None
        if kept is not None:
            return kept
        data = await self._fetch(cid)
        if self._store is not None:
            await asyncio.to_thread(self._store.put_block, Block(cid, data))
        return data

    async def snapshot(self, root_cid: str) -> Snapshot:
        """Return a whole snapshot. Raises StorageError, NetworkError."""
        root = snapshots.parse_root(root_cid, await self.block(root_cid))
        blocks = {cid: await self.block(cid) for cid in dict.fromkeys((root_cid, *root.blocks))}
        return snapshots.assemble(root, blocks)

    async def record(self, name: str) -> Record | None:
        """Return the newest record that any gateway has for an IPNS name, or None if no gateway that responds has one.

        Raises NetworkError if no gateway responds, StorageError for an invalid name.
        """
        record_call(name)
        answers = await asyncio.gather(*(_record(http, name) for http in self._http), return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, Record)]
        errors = [answer for answer in answers if isinstance(answer, BaseException)]
        if not found and errors and len(errors) == len(answers):
            raise errors[0]
        return _newest(found)

    async def close(self) -> None:
        """Close the connections."""
        for http in self._http:
            await http.close()

    async def _fetch(self, cid: str) -> bytes:
        first: Exception = StorageError(_NO_GATEWAY)
        for at, http in enumerate(self._http):
            try:
                return await http.send(block_call(cid))
            except (NetworkError, StorageError) as error:
                first = error if at == 0 else first
        raise first


def store_snapshot(store: VaultStore, snapshot: Snapshot) -> None:
    """Store a snapshot's blocks, and its root in the vault's manifest. Raises StorageError."""
    for block in snapshot.blocks:
        store.put_block(block)
    stored = store.load(snapshot.manifest.did)
    if stored is None:
        raise StorageError("no such vault is stored")
    store.update_manifest(snapshot.following_manifest)


def snapshot_stored(store: VaultStore, did: str | None = None, delegation: bytes | None = None) -> Snapshot:
    """Make a snapshot of the newest stored revision, and store the snapshot and, in the manifest, its root.

    Raises StorageError.
    """
    stored = store.load(did)
    if stored is None:
        raise StorageError("no such vault is stored")
    taken = snapshots.take(stored.manifest, stored.sealed, delegation)
    store_snapshot(store, taken)
    return taken


def _verified(cid: str, data: bytes) -> bytes:
    with snapshots.storage_errors():
        return verified(cid, data)


def _newest(found: list[Record]) -> Record | None:
    newest: Record | None = None
    for record in found:
        if change(newest, record) in {Change.NEWER, Change.RENEWED}:
            newest = record
    return newest


async def _record(http: HttpTransport, name: str) -> Record | None:
    """Return a record from one gateway, at `/ipns/` or else `/routing/v1/ipns/`: not every gateway serves both."""
    try:
        return await http.send(record_call(name))
    except NetworkError as error:
        first = error
    try:
        return await http.send(record_call(name, routing=True))
    except RequestRefused as error:
        if _NOT_FOUND in {error.status, getattr(first, "status", None)}:
            return None
        raise first from None
    except NetworkError:
        raise first from None
