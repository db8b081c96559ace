"""What both faces decide alike: revisions, manifests, and when a sealed vault goes to the store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.client.types import VaultManifest
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import StoredVault, VaultStore

_MAGIC = b"HFDB"
_DID_LENGTH = slice(6, 8)
_REVISION = slice(8, 16)
_HEADER_BYTES = 44  # everything before the DID: docs/formats.md


def revision_of(sealed: bytes) -> int:
    """The revision in a sealed vault's clear header (docs/formats.md). Raises PluginCallError for other bytes."""
    header = sealed[: _REVISION.stop]
    if len(header) < _REVISION.stop or not header.startswith(_MAGIC):
        raise PluginCallError("save", "the sealed vault has another form than documented")
    return int.from_bytes(header[_REVISION])


def did_of(sealed: bytes) -> str:
    """Whose sealed vault it is, by its clear header. Raises PluginCallError for other bytes."""
    length = int.from_bytes(sealed[_DID_LENGTH])
    did = sealed[_HEADER_BYTES : _HEADER_BYTES + length]
    if not sealed.startswith(_MAGIC) or len(did) != length:
        raise PluginCallError("load", "the sealed vault has another form than documented")
    return did.decode("utf-8", "replace")


class Keeper:
    """Puts sealed vaults into a store, and finds them again."""

    def __init__(self, store: VaultStore | None, wasm_version: str) -> None:
        self.store = store
        self._wasm_version = wasm_version

    def keep(self, did: str, sealed: bytes) -> None:
        """Store a sealed vault, unless that revision is stored already. Raises StorageError."""
        if self.store is None:
            return
        revision, before = revision_of(sealed), self.store.load(did)
        if before is not None and before.revision == revision and before.sealed == sealed:
            return
        self.store.save(self._manifest(did, before), sealed, revision)

    def newest(self, did: str | None) -> StoredVault | None:
        """The newest stored revision. Raises StorageError."""
        return None if self.store is None else self.store.load(did)

    def _manifest(self, did: str, before: StoredVault | None) -> VaultManifest:
        return VaultManifest(
            root_cid=before.manifest.root_cid if before else None,
            did=did,
            updated_at=int(time.time() * 1000),
            wasm_version=self._wasm_version,
            schema_version=1,
        )
