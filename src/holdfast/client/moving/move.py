"""Moves a person to another service, step by step; a second call continues after an interruption.

The previous service loses nothing before the new one has the name, the new passkey and the vault's copy, each of which
was checked.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.callbacks import answered
from holdfast.client.moving.copying import continue_there, copy_to
from holdfast.client.moving.owner import Ownership, Passkeys, signer_of
from holdfast.client.moving.passkey import forget, opening_key, opens, recorded_passkey
from holdfast.client.moving.target import check_free, check_target
from holdfast.client.moving.values import Moved, MoveRefused, Noted, note_move, noted_move
from holdfast.wire.client_errors import ClientStateError, ServiceError, WebAuthnError
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.registration import Registrar
    from holdfast.client.moving.copying import Copy
    from holdfast.client.moving.values import NewPasskeys
    from holdfast.client.person import PersonMethods
    from holdfast.client.snapshots.hosts import SnapshotHosts
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import DidRecord
    from holdfast.client.vault.keys import KnownKey


class Move:
    """One person's move from the service `old` to the service `new`, with the vault open, which has a store.

    `person` takes back what the old service stores, `there` what the new one does; `connect` reaches the new service's
    snapshots; `registrar` registers a passkey there, with the transaction that registered the DID; `owner` makes it an
    owner of the account.
    """

    def __init__(  # noqa: PLR0913 - each but the first four by keyword
        self,
        old: AsyncServiceClient,
        new: AsyncServiceClient,
        person: PersonMethods,
        passkeys: NewPasskeys,
        *,
        there: PersonMethods,
        connect: Callable[..., SnapshotHosts],
        registrar: Callable[[str, DidRecord], Registrar],
        owner: Callable[[Passkeys], Awaitable[Ownership]] | None = None,
        code: Callable[[str], object] | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> None:
        self._old, self._new, self._person, self._passkeys = old, new, person, passkeys
        self._there, self._connect, self._registrar = there, connect, registrar
        self._owner, self._code, self._on_progress = owner, code, on_progress

    async def run(self) -> Moved:
        """See AsyncClient.move."""
        vault, store = self._person.vault, self._store()
        self._did = (await vault.query()).did
        await check_target(self._old, self._new)
        await self._tell("the new service is checked")
        noted, key = await self._with_passkey(await self._noted())
        credential_id = noted.credential_id or ""
        noted = await self._with_signer(noted, credential_id)
        for replaced in noted.replaced:
            await forget(vault, replaced)
        await self._tell("the new passkey has signed")
        known = noted.registration
        registrar = self._registrar(credential_id, known)
        await registrar.register(known.identifier, known.channel, self._code, self._on_progress)
        for replaced in noted.replaced:
            await self._there.take_back_passkey(replaced)
        copy = await copy_to(vault, store, self._connect, key)
        await self._tell("the vault's copy was read back and opened")
        await self._confirmed(noted, credential_id)
        owned = await self._owned(noted)
        return await self._left(noted, credential_id, copy, owned)

    async def _with_signer(self, noted: Noted, credential_id: str) -> Noted:
        """Note the passkey, which has signed, as one that may become an owner of the account."""
        signer = await signer_of(self._person.vault, credential_id)
        if signer is None or to_hex(signer) in noted.signers:
            return noted
        return await self._note(noted, signers=(*noted.signers, to_hex(signer)))

    async def _with_passkey(self, noted: Noted) -> tuple[Noted, KnownKey]:
        """Return the new passkey's key once it has signed: the one of an interrupted attempt, or else another one."""
        vault = self._person.vault
        if noted.credential_id is not None:
            try:
                return noted, await opening_key(vault, self._passkeys, noted.credential_id)
            except (WebAuthnError, MoveRefused) as error:  # it may be lost; it stays until the other one has signed
                if isinstance(error, WebAuthnError) and error.is_cancelled:
                    raise
                replaced = (*noted.replaced, noted.credential_id)
                noted = await self._note(noted, credential_id=None, replaced=replaced)
        made = await recorded_passkey(vault, self._passkeys, noted.registration.identifier)
        noted = await self._note(noted, credential_id=made)
        return noted, await self._proven(noted, made)

    async def _proven(self, noted: Noted, credential_id: str) -> KnownKey:
        """Return a new passkey's key once it has signed. One that never has does not stay in the vault."""
        try:
            return await opening_key(self._person.vault, self._passkeys, credential_id)
        except ServiceError:
            if not await opens(self._person.vault, credential_id):
                await forget(self._person.vault, credential_id)
                await self._note(noted, credential_id=None)
            raise

    async def _note(self, noted: Noted, **changes: Any) -> Noted:
        changed = msgspec.structs.replace(noted, **changes)
        await asyncio.to_thread(note_move, self._store(), self._did, changed)
        return changed

    async def _noted(self) -> Noted:
        """Return what an interrupted attempt noted, or a new move. A move to another service is given up."""
        store, to = self._store(), self._new.base_url
        noted = await asyncio.to_thread(noted_move, store, self._did)
        if noted is not None and noted.to == to:
            return noted
        for given_up in (*noted.replaced, noted.credential_id) if noted else ():
            if given_up is not None:
                await forget(self._person.vault, given_up)
        known, former = await self._registration()
        await check_free(self._new, known.identifier, known.channel, self._did)
        return await self._note(Noted(to=to, former=former, registration=known, signers=noted.signers if noted else ()))

    async def _registration(self) -> tuple[DidRecord, str]:
        for credential in (await self._person.vault.query()).credentials:
            known = await self._old.lookup_did(credential.credential_id)
            if known is not None and known.did == self._did:
                return known, credential.credential_id
        raise MoveRefused("not_registered", f"the vault is not registered at {self._old.base_url}")

    async def _confirmed(self, noted: Noted, credential_id: str) -> None:
        """Check what the new service says of the name and the passkey, before the previous one loses them."""
        known, given = await self._new.lookup_did(credential_id), noted.registration
        expected = (self._did, given.identifier, given.channel)
        if known is None or (known.did, known.identifier, known.channel) != expected:
            raise MoveRefused("other_registration", "the new service does not have the name for this DID and passkey")
        if given.channel == "handle" and (await self._new.check_session(given.identifier)).available:
            raise MoveRefused("other_registration", "the new service offers the name to others")

    async def _owned(self, noted: Noted) -> Ownership:
        """Make the new passkey an owner of the account, before the previous service loses anything."""
        if self._owner is None:
            return Ownership()
        vault, signers = self._person.vault, [from_hex(signer) for signer in noted.signers]
        new, former = [await signer_of(vault, it) for it in (noted.credential_id or "", noted.former)]
        owned = await self._owner(Passkeys(new, former, [it for it in signers if it != new]))
        if owned.is_owner:
            await self._tell("the new passkey owns the account")
        return owned

    async def _left(self, noted: Noted, credential_id: str, copy: Copy, owned: Ownership) -> Moved:
        """Free the name at the previous service, and take its passkey back there."""
        given = noted.registration
        await self._person.free_identifier(given.identifier, given.channel)
        await self._person.take_back_passkey(noted.former)
        rest = (await self._person.export_person())["identifiers"]
        await continue_there(self._person.vault, self._store(), copy)
        await asyncio.to_thread(note_move, self._store(), self._did, None)
        await self._tell("the previous service has given up the name")
        return Moved(
            did=self._did,
            identifier=given.identifier,
            channel=given.channel,
            credential_id=credential_id,
            root_cid=copy.snapshot.root_cid,
            left_behind=tuple(str(row["given"]) for row in rest) if isinstance(rest, list) else (),
            **owned._asdict(),
        )

    def _store(self) -> VaultStore:
        store = self._person.vault.store
        if store is None:
            raise ClientStateError("a move needs a vault with a store, so that it can continue")
        return store

    async def _tell(self, step: str) -> None:
        await answered(self._on_progress, step)
