"""Reads blocks and IPNS records from IPFS gateways, and verifies everything that they return."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.client.http.calls import Call, as_bytes
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage import snapshots
from holdfast.client.storage.name_records import Failed, NameAnswers, Patience, ask_all, failure
from holdfast.content.cars import MAX_LEGACY_BLOCK_BYTES, MAX_ROOT_BYTES
from holdfast.content.cids import Block, bytes_of, codec_of, verified
from holdfast.wire.client_errors import NetworkError, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2

    from holdfast.client.http.calls import Reply, Retries
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.content.records import Record

_NOT_FOUND = 404


def block_call(cid: str) -> Call[bytes]:
    """GET /ipfs/{cid}?format=raw (trustless gateway). Raises StorageError if the response is another block."""
    with snapshots.storage_errors():
        bytes_of(cid)
    longest = MAX_ROOT_BYTES if codec_of(cid) == "dag-cbor" else MAX_LEGACY_BLOCK_BYTES
    return replace(PROBE, path=f"/ipfs/{cid}", read=partial(_verified, cid), longest=longest, redirects=3)


# The empty block that every trustless gateway serves (specification, "Probing").
_RAW = {"Accept": "application/vnd.ipld.raw"}
PROBE: Call[Any] = Call(method="GET", path="/ipfs/bafkqaaa", query={"format": "raw"}, headers=_RAW, read=as_bytes)


class AsyncGateway:
    """Reads blocks from the store; fetches missing blocks from any number of gateways, verifies them and stores them.

    Args:
        gateway_url: an address, or several in the order in which they are tried, or None.
        store: stores the blocks.

    A gateway that fails or returns wrong data is skipped, and from then on asked only for what the others lack. If all
    fail, the error says each one's reason.
    """

    def __init__(
        self,
        gateway_url: str | Sequence[str] | None,
        store: VaultStore | None,
        *,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        patience: Patience | None = None,
    ) -> None:
        urls = [gateway_url] if isinstance(gateway_url, str) else list(gateway_url or ())
        self._http = [HttpTransport(url, retries=retries, transport=transport) for url in urls]
        self._store, self._patience = store, patience or Patience()
        self._failed: set[HttpTransport] = set()

    async def block(self, cid: str) -> bytes:
        """Return a block from the store or, if the store lacks it, from a gateway.

        Raises StorageError, NetworkError.
        """
        stored = await asyncio.to_thread(self._store.get_block, cid) if self._store else None
        if stored is not None:
            return stored
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

        Raises NetworkError if no gateway responds, StorageError for an invalid name or if all records are forged.
        """
        answers = await self.answers(name, absent_is_enough=True)
        if answers.failed and len(answers.failed) == len(self._http):
            raise failure("no gateway answers", answers.failed)
        return answers.newest

    async def answers(self, name: str, *, absent_is_enough: bool = False) -> NameAnswers:
        """Return what the gateways answer about an IPNS name, and which of them do not answer.

        With `absent_is_enough`, the others are waited for only shortly after one has said that there is no record.
        Raises StorageError for an invalid name.
        """
        answers = await ask_all(self._http, name, self._patience, absent_is_enough=absent_is_enough)
        self._failed |= {server for server, _ in answers.failed}
        return answers

    async def close(self) -> None:
        """Close the connections."""
        for http in self._http:
            await http.close()

    async def _fetch(self, cid: str) -> bytes:
        failed: list[Failed] = []
        for http in sorted(self._http, key=self._failed.__contains__):
            try:
                return await http.send(block_call(cid))
            except (NetworkError, StorageError) as error:
                failed.append(Failed(http, error))
                if not (isinstance(error, RequestRefused) and error.status == _NOT_FOUND):
                    self._failed.add(http)
        if not failed:
            raise StorageError("the block is not here, and no gateway is configured")
        raise failure("no gateway returns the block", failed)


def snapshot_stored(store: VaultStore, did: str | None = None, delegation: bytes | None = None) -> Snapshot:
    """Make a snapshot of the newest stored revision, and store it and, in a manifest that names none, its root.

    Raises StorageError.
    """
    stored = store.load(did)
    if stored is None:
        raise StorageError("no such vault is stored")
    taken = snapshots.take(stored.manifest, stored.sealed, delegation)
    for block in taken.blocks:
        store.put_block(block)
    # A manifest that names the published snapshot says that this revision needs no upload.
    if stored.manifest.root_cid is None:
        store.update_manifest(taken.following_manifest, stored.sealed)
    return taken


def _verified(cid: str, reply: Reply) -> bytes:
    with snapshots.storage_errors():
        return verified(cid, reply.content)
