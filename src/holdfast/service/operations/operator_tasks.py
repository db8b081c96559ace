"""Operators' tasks, as commands and the admin port carry them out: one method for each (wire/admin_endpoints.py)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.addresses import subject_of_text
from holdfast.rules.bans import ban_subject
from holdfast.rules.dids import parse_credential_id, parse_did
from holdfast.rules.identifiers import Channel, Identifier, parse_channel, parse_identifier
from holdfast.rules.limits import HOUR_S
from holdfast.service.operations import administration as lists
from holdfast.service.operations.administration import NO_CURSOR, NotFound, NotPossible
from holdfast.service.operations.persons import person_export
from holdfast.service.store.persons import Removal
from holdfast.wire.encoding import to_iso
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from holdfast.rules.addresses import AddressHashes
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.service.clock import Entropy
    from holdfast.service.operations.invitations import Invitations
    from holdfast.service.store.administration import By
    from holdfast.service.store.port import Store
    from holdfast.wire import admin_endpoints
    from holdfast.wire.models import PersonExport

Row = dict[str, Any]
_TOKEN_BYTES = 32
_REMEMBERED_S = float(HOUR_S)  # the result of an erasure
_ACT_ID = re.compile(r"[0-9a-f]{32}|[0-9]{1,18}")


class Rows(msgspec.Struct, frozen=True):
    """A page of a list; `after` is where the next one begins, None after the last."""

    rows: list[Row]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class OperatorTasks:
    """Carries out the tasks. `given` is the endpoint's input, `by` who acts, and when.

    Every method raises NotPossible for input that cannot be read, NotFound, KeyRevoked, or StoreUnavailable.
    """

    store: Store
    addresses: AddressHashes
    pseudonyms: Pseudonyms
    codes: Invitations
    entropy: Entropy

    async def identifiers(self, given: admin_endpoints.ListIdentifiers, _by: By) -> Rows:
        """Return a page of identifiers, the newest first or, with a prefix, by name."""
        try:
            search = lists.search_of(msgspec.structs.asdict(given), lambda it: self.addresses.of(subject_of_text(it)))
        except ValueError as error:
            raise NotPossible(str(error)) from None
        rows, after = await lists.page(self.store, search, given.limit)
        return Rows([lists.plain(row) for row in rows], after)

    async def counts(self, given: admin_endpoints.CountDays, by: By) -> Rows:
        """Return counts by day and channel, the latest day first."""
        return Rows([lists.plain_count(row) for row in await lists.counts(self.store, given.days, by.now)])

    async def identifier(self, given: admin_endpoints.OfIdentifier, _by: By) -> Row:
        """Return what is stored about an identifier, with the older history, in which its hash names it."""
        channel, key = _parsed(given)
        named = await self.store.describe(channel, key)
        older: Any = await self.store.describe(channel, self.pseudonyms.of_name(channel, key))
        found: Any = {**named, "history": [*older["history"], *_history(named)]} if named and older else named or older
        if found is None:
            raise NotFound("nothing is known of this identifier")
        return dict(found)

    async def release(self, given: admin_endpoints.OfIdentifier, by: By) -> Row:
        """Free an identifier."""
        _require(await self.store.administration.release(*_parsed(given), by), "no one holds this identifier")
        return {"released": True}

    async def transfer(self, given: admin_endpoints.Transfer, by: By) -> Row:
        """Give an identifier to another DID."""
        done = await self.store.administration.transfer(*_parsed(given), _did(given.did), by)
        _require(done, "no one holds this identifier, or this DID does already")
        return {"transferred": True}

    async def rename(self, given: admin_endpoints.Rename, by: By) -> Row:
        """Rename a handle."""
        old, new = _handle(given.identifier), _handle(given.new)
        done = await self.store.administration.rename(old.channel.value, old.key, new, by)
        _require(done, "no one holds this handle, the new one is taken, or a registration still waits for the chain")
        return {"renamed": True}

    async def revoke_credential(self, given: admin_endpoints.OfCredential, by: By) -> Row:
        """Remove a credential's registration."""
        try:
            credential = parse_credential_id(given.credential_id)
        except Refused:
            raise NotPossible("this is not a credential ID") from None
        _require(await self.store.administration.revoke(credential, by), "no such credential")
        return {"revoked": True}

    async def bans(self, given: admin_endpoints.ReadPage, _by: By) -> Rows:
        """Return a page of bans, by kind and value."""
        found = await self.store.administration.bans(given.after or "", given.limit)
        rows = [{"subject": ban.subject, "at": to_iso(ban.at), "reason": ban.reason} for ban in found]
        return Rows(rows, found[-1].subject if len(found) == given.limit else None)

    async def ban(self, given: admin_endpoints.NewBan, by: By) -> Row:
        """Ban a subject; `banned` is False if it was banned before."""
        subject = _subject(given)
        return {"subject": subject, "banned": await self.store.administration.ban(subject, given.reason, by)}

    async def lift(self, given: admin_endpoints.OfBan, by: By) -> Row:
        """Lift a ban."""
        subject = _subject(given)
        _require(await self.store.administration.lift(subject, by), f"{subject} is not banned")
        return {"subject": subject, "lifted": True}

    async def invitations(self, given: admin_endpoints.ReadPage, _by: By) -> Rows:
        """Return a page of invitations, the latest first."""
        found = await self.store.administration.invitations(_cursor(given.after), given.limit)
        after = lists.encoded((found[-1].made_at, found[-1].number)) if len(found) == given.limit else None
        return Rows([self.codes.plain(invitation) for invitation in found], after)

    async def invite(self, given: admin_endpoints.NewInvitation, by: By) -> Row:
        """Make an invitation code."""
        return await self.codes.make(given.uses, given.days, by)

    async def revoke_invitation(self, given: admin_endpoints.OfInvitation, by: By) -> Row:
        """Use up what is left of a code."""
        return await self.codes.revoke(given.code, by)

    async def reissue_invitation(self, given: admin_endpoints.Reissue, by: By) -> Row:
        """Make a new code for what is left of one, which is revoked first."""
        return await self.codes.reissue(given.code, given.days, by)

    async def export_person(self, given: admin_endpoints.OfPerson, by: By) -> PersonExport:
        """Return all rows about a person."""
        found = await person_export(self.store, await self._did_of(given), self.pseudonyms, by.now)
        rows = (it for it in msgspec.structs.astuple(found) if isinstance(it, list))
        _require(any(rows), "nothing is stored about this DID")
        return found

    async def erase_person(self, given: admin_endpoints.OfPerson, by: By) -> Row:
        """Delete a person; return how many rows of each kind went."""
        did = (await self.export_person(given, by)).did
        token = self.entropy(_TOKEN_BYTES)
        removal = Removal(did=did, now=by.now, pseudonyms=self.pseudonyms, token=token, until=by.now + _REMEMBERED_S)
        return {"did": did, **(await self.store.administration.erase(removal, by))._asdict()}

    async def acts(self, given: admin_endpoints.ReadPage, _by: By) -> Rows:
        """Return a page of what operators did, the latest first."""
        after = _cursor(given.after)
        if after is not None and not _ACT_ID.fullmatch(after[1]):
            raise NotPossible(NO_CURSOR)
        found = await self.store.administration.acts(after, given.limit)
        last = lists.encoded((found[-1].at, found[-1].id)) if len(found) == given.limit else None
        return Rows([{**act._asdict(), "at": to_iso(act.at)} for act in found], last)

    async def _did_of(self, given: admin_endpoints.OfPerson) -> str:
        if given.person.startswith("did:"):
            return _did(given.person)
        claim = await self.store.claim_of(*_claim_key(given.person, given.channel))
        if claim is None:
            raise NotFound("no one holds this identifier")
        return claim.did


def _require(done: bool, otherwise: str) -> None:  # noqa: FBT001 - the result of the store
    if not done:
        raise NotFound(otherwise)


def _parsed(given: admin_endpoints.OfIdentifier) -> tuple[str, str]:
    return _claim_key(given.identifier, given.channel)


def _claim_key(text: str, channel: str) -> tuple[str, str]:
    """Return channel and canonical key."""
    try:
        parsed = parse_identifier(text, parse_channel(channel))
    except Refused as refused:
        raise NotPossible(refused.row.error) from None
    return parsed.channel.value, parsed.key


def _handle(text: str) -> Identifier:
    return Identifier(Channel.HANDLE, _claim_key(text, Channel.HANDLE.value)[1], text)


def _did(text: str) -> str:
    try:
        return parse_did(text)
    except Refused:
        raise NotPossible("this is not a DID") from None


def _subject(given: admin_endpoints.OfBan) -> str:
    if given.channel not in set(Channel):
        raise NotPossible(f"a channel is one of these: {', '.join(Channel)}")
    try:
        return ban_subject(given.kind, given.value, Channel(given.channel))
    except ValueError as error:
        raise NotPossible(f"this cannot be banned: {error}") from None


def _cursor(after: str | None) -> tuple[float, str] | None:
    if not after:
        return None
    try:
        found = msgspec.json.decode(after, type=tuple[float, str])
    except msgspec.DecodeError:
        raise NotPossible(NO_CURSOR) from None
    if "\0" in found[1]:
        raise NotPossible(NO_CURSOR)
    return found


def _history(found: Any) -> list[Any]:
    return list(found["history"])
