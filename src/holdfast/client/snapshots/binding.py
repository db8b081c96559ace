"""Checks that a snapshot belongs to its DID, by the sealed vault's header and the delegation to the publishing key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.storage.sealed_header import did_of
from holdfast.client.ucan import UcanRefused, UcanVerifier
from holdfast.content.names import did_key_of
from holdfast.wire.client_errors import PluginCallError, StorageError

if TYPE_CHECKING:
    from holdfast.client.storage.snapshots import Snapshot

PUBLISH = "/snapshots/publish"


def check_whole(snapshot: Snapshot) -> None:
    """Check that the snapshot's root and the sealed vault contain the same DID. Raises StorageError."""
    try:
        did = did_of(snapshot.sealed)
    except PluginCallError as error:
        raise StorageError("the snapshot holds no sealed vault") from error
    if did != snapshot.manifest.did:
        raise StorageError("the snapshot names another DID than the vault in it")


def check_binding(snapshot: Snapshot, public_key: bytes | None) -> None:
    """Check that the vault's key delegated publishing to `public_key` (None: to any key). Raises StorageError.

    A did:new is the hash of its key, so the delegation can be verified without asking a service.
    """
    if snapshot.delegation is None:
        raise StorageError("the snapshot carries no delegation to the key that named it: it may be someone else's")
    did, audience = snapshot.manifest.did, None if public_key is None else did_key_of(public_key)
    try:
        with UcanVerifier() as verifier:
            verifier.verify(snapshot.delegation, audience=audience, subject=did, command=PUBLISH, args={})
    except UcanRefused as error:
        raise StorageError(
            f"the snapshot is not named by its vault's key: the delegation does not hold ({error.code})"
        ) from error
