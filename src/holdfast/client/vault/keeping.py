"""Decides when a sealed vault must be stored, and stores its revisions with their manifests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.client.storage.sealed_header import did_of, revision_of
from holdfast.client.types import VaultManifest
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import StoredVault, VaultStore

__all__ = ["Keeper", "did_of", "revision_of"]


class Keeper:
    """Stores and loads sealed vaults.

    If the store fails, the revision remains due, and the vault's next call stores it.
    """

    def __init__(self, store: VaultStore | None, wasm_version: str) -> None:
        self.store = store
        self._wasm_version = wasm_version
        self._behind = self._forgetting = False

    def sealing(self) -> None:
        """Record that the enclave is about to seal a revision, which `keep` must store."""
        self._behind = True

    def discarded(self) -> None:
        """Record that what the enclave sealed is gone: nothing is to be stored."""
        self._behind = False

    def forget(self) -> None:
        """Record that all older revisions must be deleted when the next one is stored."""
        self._forgetting = True

    def due(self, *, unsaved: bool) -> bool:
        """Return whether a revision must be stored. `unsaved`: whether the enclave reports changes."""
        return self.store is not None and (unsaved or self._behind or self._forgetting)

    def keep(self, did: str, sealed: bytes) -> None:
        """Store a sealed vault, unless that revision is already stored. Raises StorageError."""
        if self.store is None:
            return
        revision, before = revision_of(sealed), self.store.load(did)
        if before is None or before.revision != revision or before.sealed != sealed:
            self._save(did, before, sealed, revision)
        self._behind = False

    def check_new(self, did: str) -> None:
        """Check that no vault with this DID is stored. Raises StorageError."""
        if self.newest(did) is not None:
            raise StorageError("a vault of this DID is stored here already: delete it first, or use another folder")

    def newest(self, did: str | None) -> StoredVault | None:
        """Return the newest stored revision. Raises StorageError."""
        return None if self.store is None else self.store.load(did)

    def _save(self, did: str, before: StoredVault | None, sealed: bytes, revision: int) -> None:
        if self.store is not None:
            named = None if before is None or self._forgetting else before.manifest.root_cid
            self.store.save(self._manifest(did, named), sealed, revision, forget_older=self._forgetting)
            self._forgetting = False

    def _manifest(self, did: str, root_cid: str | None) -> VaultManifest:
        return VaultManifest(
            root_cid=root_cid,
            did=did,
            updated_at=int(time.time() * 1000),
            wasm_version=self._wasm_version,
            schema_version=1,
        )
