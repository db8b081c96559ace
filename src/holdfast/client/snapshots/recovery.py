"""Recovers a vault with only a passkey: its user handle leads to the snapshot, and its PRF output unlocks the vault."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.client.callbacks import answered, outside
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.state import keep_record, pinned_state, read_state, write_state
from holdfast.client.snapshots.versions import OtherKeys, opened_beside
from holdfast.client.storage import snapshots
from holdfast.client.storage.name_records import NameAnswers, ServersFailed, failure, reason_of
from holdfast.client.storage.sealed_header import did_of, revision_of, wraps_of
from holdfast.client.types import Record
from holdfast.client.ucan import UcanRefused, UcanVerifier
from holdfast.client.vault.keys import NO_SECRET, HostKey, KnownKey, passkey_key
from holdfast.content.errors import ContentError
from holdfast.content.names import PUBLIC_KEY_BYTES, did_key_of, name_of
from holdfast.wire.client_errors import ClientStateError, NetworkError, PluginCallError, ServiceError, StorageError
from holdfast.wire.commands import PUBLISH
from holdfast.wire.encoding import utc_text
from holdfast.wire.retries import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from holdfast.client.snapshots.hosts import SnapshotHosts
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import DiscoveredPasskey, KeyProvider, RecoveryPasskey
    from holdfast.content.records import Record as NameRecord


_NOT_FOUND = 404
# Lengths of user handles that begin with the publishing key; 32 random bytes follow in a passkey made for another page.
_HANDLES = (PUBLIC_KEY_BYTES, 2 * PUBLIC_KEY_BYTES)
_INCOMPLETE = ("block_missing", "cut_short")
_REFUSALS = {  # by the enclave's code
    "wrong_key": ("wrong_key", "this key does not open the vault: it belongs to another one, or was removed"),
    "stale_revision": ("stale", "this device has a newer version of the vault than the snapshot"),
}
_BEHIND = "the newest snapshot does not open with the key that recovered this vault"


class SnapshotRolledBack(StorageError):
    """The published record is older than one that this device has seen. Nothing was changed.

    `known` is the highest sequence that this device has seen, `found` the published record's.
    """

    def __init__(self, known: int, found: int) -> None:
        super().__init__(
            f"rolled back: the newest snapshot that can be found has sequence {found}, and this device has seen"
            f" {known}; ask another gateway, or accept the older one"
        )
        self.known, self.found = known, found


class RecoveryRefused(StorageError):
    """The vault was not recovered and nothing was stored.

    Attributes:
        code: no_prf, no_snapshot, expired, unconfirmed, wrong_key, stale, incomplete, damaged or unopened. unconfirmed:
            the service did not answer, so the snapshot may be an old one, or the key unlocks only an old one;
            incomplete: blocks are missing; damaged: the bytes were changed, or belong to another
            vault; unopened: the enclave refuses them.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Recovered(Record, frozen=True, kw_only=True):
    """A recovered vault: its DID, the snapshot it came from, and when the vault in it was sealed (Unix milliseconds).

    `sequence` is the record's; None for a vault from a CAR file. If the key does not unlock the newest snapshot and the
    person accepted an older one, `newer_root` and `newer_updated_at` describe the newest.
    """

    did: str
    root_cid: str
    revision: int
    updated_at: int
    sequence: int | None = None
    newer_root: str | None = None
    newer_updated_at: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    snapshot: Snapshot
    record: NameRecord | None
    at_service: bool = False


@dataclass
class Recovery:
    """Recovers a snapshot into an empty vault that has a store."""

    vault: AsyncVault
    store: VaultStore
    hosts: SnapshotHosts
    accept: Callable[[str], object] | None = None
    on_progress: Callable[[str], object] | None = None

    async def recover(
        self,
        *,
        passkey: RecoveryPasskey | None = None,
        key: KeyProvider | None = None,
        name: str | None = None,
        car: bytes | None = None,
    ) -> Recovered:
        """See AsyncClient.recover."""
        if passkey is None and (key is None or (name is None and car is None)):
            raise ValueError("recover: a passkey, or a key together with a name or a CAR file")
        if (await self.vault.status()).initialized:
            raise ClientStateError("this vault is in use already: recover into a new one")
        chosen = await outside(passkey.discover) if passkey else None
        if chosen and chosen.secret is None and key is None:
            raise RecoveryRefused("no_prf", NO_SECRET)
        found = await self._of_car(car) if car is not None else await self._of_name(name, chosen)
        await self._compare(found)
        known = KnownKey(await outside(key.host_key) if key else _key_of(chosen))
        opened = await self._open_newest(found, known)
        sealed, stored = opened.snapshot.sealed, await asyncio.to_thread(self.store.load, found.snapshot.manifest.did)
        if stored and stored.sealed != sealed and stored.revision == revision_of(sealed):
            await self.vault.save()  # another device's change, which would not be stored under the same number
        return await asyncio.to_thread(self._keep, opened, found)

    async def _of_car(self, car: bytes) -> _Found:
        """Read a snapshot from a CAR file. Only unlocking the vault proves that it is the person's."""
        with _readable():
            snapshot = await asyncio.to_thread(snapshots.from_car, car)
        await self._check(snapshot, None)
        return _Found(snapshot, None)

    async def _of_name(self, name: str | None, chosen: DiscoveredPasskey | None) -> _Found:
        with _readable():
            answers = await self._answers(name, chosen)
            record = answers.newest
            if record is None and answers.failed:
                raise failure("no snapshot was found, and not every server answered", answers.failed)
        if record is None:
            raise RecoveryRefused(
                "no_snapshot", "no snapshot is published under this name: every server that was asked says so"
            )
        for server, error in answers.failed:
            await self._tell(f"{server.host} did not answer: {reason_of(error)}")
        if record.is_expired(time.time()):
            question = "the newest snapshot's record is authentic but has expired; there may be a newer snapshot"
            await self._ask(question, RecoveryRefused("expired", question))
        await self._tell("snapshot found")
        with _readable():
            snapshot = await self.hosts.gateway.snapshot(record.root_cid)
        await self._check(snapshot, record.public_key)
        await self._tell("snapshot verified")
        await self._confirm(snapshot, answers)
        return _Found(snapshot, record, answers.at_main)

    async def _answers(self, name: str | None, chosen: DiscoveredPasskey | None) -> NameAnswers:
        """Return the answers about the given name, else the user handle's, else the name that the service stored.

        It has names for passkeys from before publishing keys existed, whose user handles are random.
        """
        if name is not None:
            return await self.hosts.gateway.answers(name)
        handle = chosen.user_handle if chosen else b""
        is_named = len(handle) in _HANDLES
        of_handle = await self.hosts.gateway.answers(name_of(handle[:PUBLIC_KEY_BYTES])) if is_named else None
        if of_handle is not None and (of_handle.newest is not None or of_handle.failed):
            return of_handle
        named = await self.hosts.name_of(chosen.credential_id) if chosen else None
        return await self.hosts.gateway.answers(named) if named else of_handle or NameAnswers(None, (), has_main=True)

    async def _confirm(self, snapshot: Snapshot, answers: NameAnswers) -> None:
        """Ask whether to use a snapshot, if the server that has the newest one did not answer.

        Any server that once had a record can return it for years, so an old record looks like the newest.
        """
        if not answers.has_main:
            silent = ", ".join(server.host for server, _ in answers.failed)
            question = (
                f"{silent} did not answer, so there may be a newer copy: the newest one that was found is from"
                f" {_moment(snapshot)}"
            )
            await self._ask(question, RecoveryRefused("unconfirmed", question))

    async def _check(self, snapshot: Snapshot, public_key: bytes | None) -> None:
        check_whole(snapshot)
        if public_key is not None or snapshot.delegation is not None:
            await asyncio.to_thread(check_binding, snapshot, public_key)

    async def _compare(self, found: _Found) -> None:
        """Refuse a record with a lower sequence number than this device has seen, unless the person accepts it."""
        known = await asyncio.to_thread(read_state, self.store, found.snapshot.manifest.did)
        if found.record is not None and found.record.sequence < known.sequence:
            error = SnapshotRolledBack(known.sequence, found.record.sequence)
            await self._ask(str(error), error)

    async def _ask(self, question: str, refusal: StorageError) -> None:
        if self.accept is None or not await answered(self.accept, question):
            raise refusal

    async def _open_newest(self, newest: _Found, key: KnownKey) -> _Found:
        """Unlock the newest snapshot, or an older one that the person accepts. Raises RecoveryRefused."""
        try:
            await self._open(newest.snapshot, key)
        except RecoveryRefused as refused:
            if refused.code != "wrong_key" or newest.record is None:
                raise
            older = await self._older(newest.snapshot, newest.record, key)
            if older is None:
                raise
        else:
            return newest
        question = (
            f"the newest snapshot, from {_moment(newest.snapshot)}, cannot be opened with this key; the one from"
            f" {_moment(older)} can, but lacks what was changed since"
        )
        await self._ask(question, RecoveryRefused("unconfirmed", question))
        await self._open(older, key)
        return _Found(older, newest.record)

    async def _older(self, newest: Snapshot, record: NameRecord, key: KnownKey) -> Snapshot | None:
        """Return the newest of the older snapshots that this key unlocks. The vault stays locked."""
        stored = await asyncio.to_thread(self.store.load, newest.manifest.did)
        tried = _wraps(newest, key.key)
        async for snapshot in self._before(newest, record):
            new, tried = _wraps(snapshot, key.key) - tried, tried | _wraps(snapshot, key.key)
            is_stale = stored is not None and stored.revision > revision_of(snapshot.sealed)
            if new and not is_stale:
                with contextlib.suppress(OtherKeys, PluginCallError):
                    async with opened_beside(self.vault, snapshot, key):
                        return snapshot
        return None

    async def _before(self, snapshot: Snapshot, record: NameRecord) -> AsyncIterator[Snapshot]:
        """Yield the verified snapshots that precede this one, newest first, as far back as servers still store them."""
        did = snapshot.manifest.did
        for _ in range(SNAPSHOTS.older):
            if (before := snapshot.manifest.root_cid) is None:
                return
            try:
                snapshot = await self.hosts.gateway.snapshot(before)
                await self._check(snapshot, record.public_key)
            except (StorageError, NetworkError):
                return
            if snapshot.manifest.did != did:
                return
            yield snapshot

    async def _open(self, snapshot: Snapshot, key: KeyProvider) -> None:
        try:
            opened = await self.vault.unlock(key, snapshot.sealed)
        except PluginCallError as error:
            raise _refused(error.code) from error
        if not opened.success:
            raise _refused(opened.error)
        await self._tell("vault opened")

    def _keep(self, found: _Found, newest: _Found) -> Recovered:
        snapshot, did = found.snapshot, found.snapshot.manifest.did
        revision = revision_of(snapshot.sealed)
        stored = self.store.load(did)
        if stored is None or stored.revision < revision:
            self.store.save(snapshot.following_manifest, snapshot.sealed, revision)
        root, sequence = snapshot.root_cid, found.record.sequence if found.record else None
        newer = None if found is newest else newest.snapshot
        state, changes = pinned_state(did, root, revision, sequence or 0, self.hosts.service), {}
        if found.record is not None and newer is None:
            keep_record(self.store, did, found.record.data)
        if not found.at_service:  # the service may lack a snapshot from a file or from another gateway
            changes = {"status": "queued", "acknowledged_revision": 0}
        if newer is not None:  # the person has to choose between the versions first
            changes = {
                "status": "conflict",
                "reason": _BEHIND,
                "other_root": newer.root_cid,
                "acknowledged_revision": 0,
            }
        write_state(self.store, msgspec.structs.replace(state, **changes))
        return Recovered(
            did=did,
            root_cid=root,
            revision=revision,
            updated_at=snapshot.manifest.updated_at,
            sequence=sequence,
            newer_root=newer.root_cid if newer else None,
            newer_updated_at=newer.manifest.updated_at if newer else None,
        )

    async def _tell(self, step: str) -> None:
        await answered(self.on_progress, step)


def check_whole(snapshot: Snapshot) -> None:
    """Check that the snapshot's root and the sealed vault contain the same DID. Raises RecoveryRefused."""
    try:
        did = did_of(snapshot.sealed)
    except PluginCallError as error:
        raise RecoveryRefused("damaged", "the snapshot holds no sealed vault") from error
    if did != snapshot.manifest.did:
        raise RecoveryRefused("damaged", "the snapshot names another DID than the vault in it")


def check_binding(snapshot: Snapshot, public_key: bytes | None) -> None:
    """Check that the vault's key delegated publishing to `public_key` (None: to any key). Raises RecoveryRefused.

    A did:new is the hash of its key, so the delegation can be verified without asking a service.
    """
    if snapshot.delegation is None:
        words = "the snapshot carries no delegation to the key that named it: it may be someone else's"
        raise RecoveryRefused("damaged", words)
    did, audience = snapshot.manifest.did, None if public_key is None else did_key_of(public_key)
    try:
        with UcanVerifier() as verifier:
            verifier.verify(snapshot.delegation, audience=audience, subject=did, command=PUBLISH, args={})
    except UcanRefused as error:
        words = f"the snapshot is not named by its vault's key: the delegation does not hold ({error.code})"
        raise RecoveryRefused("damaged", words) from error


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Convert errors about a snapshot's bytes to RecoveryRefused with the same message."""
    try:
        yield
    except (StorageError, NetworkError) as error:
        if _is_missing(error):
            raise RecoveryRefused("incomplete", "a block of the snapshot is missing at all gateways") from error
        if (code := _content_code(error)) is None:
            raise
        raise RecoveryRefused("incomplete" if code in _INCOMPLETE else "damaged", reason_of(error)) from error


def _is_missing(error: ServiceError) -> bool:
    """Return whether every server that was asked has no such block."""
    if isinstance(error, ServersFailed):
        return all(map(_is_missing, error.errors))
    return isinstance(error, RequestRefused) and error.status == _NOT_FOUND


def _content_code(error: ServiceError) -> str | None:
    """Return what is wrong with a snapshot's bytes, or None if that is not why it could not be read."""
    if isinstance(error, ServersFailed):
        return "damaged" if all(map(_content_code, error.errors)) else None
    return error.__cause__.code if isinstance(error.__cause__, ContentError) else None


def _key_of(chosen: DiscoveredPasskey | None) -> HostKey:
    assert chosen is not None
    return passkey_key(chosen.credential_id, chosen.secret)


def _wraps(snapshot: Snapshot, key: HostKey) -> set[bytes]:
    """Return the wraps that a key may open: the one with a passkey's ID, or all password wraps."""
    try:
        wraps = wraps_of(snapshot.sealed)
    except PluginCallError:
        return set()
    return {wrap for kind, key_id, wrap in wraps if kind == key.kind and (kind == "password" or key_id == key.id)}


def _moment(snapshot: Snapshot) -> str:
    return utc_text(snapshot.manifest.updated_at / 1000)


def _refused(code: str | None) -> RecoveryRefused:
    unopened = "unopened", f"the vault in the snapshot does not open ({code or 'no reason given'})"
    return RecoveryRefused(*_REFUSALS.get(code or "", unopened))
