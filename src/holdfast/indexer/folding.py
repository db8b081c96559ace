"""Applies events to rows: a pure function that also records how to undo the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from holdfast.indexer.events import ACCOUNT_KINDS
from holdfast.indexer.rows import ENTITIES, AccountRow, AliasRow, DidRow, Event, JournalRow, OwnerRow, Row, TotalsRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

TOTALS_KEY = b""

Key = tuple[str, bytes]
Rows = dict[Key, Row | None]
R = TypeVar("R", DidRow, AliasRow, AccountRow, OwnerRow, TotalsRow)


class Outcome(NamedTuple):
    """The changed rows, the journal that undoes the changes, and the events except those of other contracts."""

    changed: Rows
    journal: list[JournalRow]
    events: list[Event]


def keys_of(events: Iterable[Event]) -> set[Key]:
    """Return the keys of the rows that `fold` may read or change for `events`."""
    keys: set[Key] = set()
    for event in events:
        if event.did_hash is not None:
            keys.add(("dids", event.did_hash))
        if event.alias_hash is not None:
            keys.add(("aliases", event.alias_hash))
        if event.account_address is not None:
            keys.add(("accounts", event.account_address))
            keys.update(
                ("owners", event.account_address + key) for key in (event.owner_address, event.key_owner) if key
            )
    return keys | {("totals", TOTALS_KEY)} if keys else keys


def fold(rows: Mapping[Key, Row | None], events: Iterable[Event], journal_after: int) -> Outcome:
    """Apply `events`, in chain order, to `rows`.

    Args:
        rows: The present rows of `keys_of(events)`; None for a key without a row.
        events: The events of one range of blocks.
        journal_after: Changes up to this block are not journaled, as they will not be undone.
    """
    sheet = _Sheet(rows, journal_after)
    ours: list[Event] = []
    for event in events:
        if _is_a_strangers(sheet, event):
            continue
        ours.append(event)
        apply = _APPLY.get(event.kind)
        if apply is not None:
            sheet.block_number = event.block_number
            apply(sheet, event)
    return Outcome(sheet.changed, sheet.journal, ours)


def _is_a_strangers(sheet: _Sheet, event: Event) -> bool:
    """Return whether an account's event is from a contract that is not, or not yet, an account of the factory."""
    if event.kind not in ACCOUNT_KINDS or event.account_address is None:
        return False
    return sheet.get("accounts", event.account_address, AccountRow) is None


def restored(journal: Iterable[JournalRow]) -> Rows:
    """Return the rows as they were before the changes in `journal` (newest first): a row's oldest entry applies."""
    return {
        (entry.entity, entry.key): None if entry.before is None else _unpack(entry.entity, entry.before)
        for entry in journal
    }


def by_entity(rows: Rows) -> Iterator[tuple[str, list[bytes], list[Row]]]:
    """Yield each table's name, the keys of its rows to delete, and its rows to write."""
    for entity in ENTITIES:
        mine = [(key, row) for (name, key), row in rows.items() if name == entity]
        yield entity, [key for key, row in mine if row is None], [row for _, row in mine if row is not None]


def _unpack(entity: str, packed: bytes) -> Row:
    return msgspec.msgpack.decode(packed, type=ENTITIES[entity])


class _Sheet:
    """The working copy of the rows that `fold` changes."""

    def __init__(self, rows: Mapping[Key, Row | None], journal_after: int) -> None:
        self._rows = rows
        self._journal_after = journal_after
        self._journaled: set[tuple[int, Key]] = set()
        self.block_number = 0
        self.changed: Rows = {}
        self.journal: list[JournalRow] = []

    def get(self, entity: str, key: bytes, kind: type[R]) -> R | None:
        row_key = (entity, key)
        row = self.changed[row_key] if row_key in self.changed else self._rows[row_key]
        assert row is None or isinstance(row, kind)
        return row

    def put(self, entity: str, row: Row) -> None:
        self._set((entity, row[0]), row)

    def drop(self, entity: str, key: bytes) -> None:
        self._set((entity, key), None)

    def _set(self, row_key: Key, row: Row | None) -> None:
        mark = (self.block_number, row_key)
        if self.block_number > self._journal_after and mark not in self._journaled:
            before = self.changed[row_key] if row_key in self.changed else self._rows[row_key]
            self._journaled.add(mark)
            packed = None if before is None else msgspec.msgpack.encode(before)
            self.journal.append(JournalRow(self.block_number, *row_key, packed))
        self.changed[row_key] = row

    def count(self, *, dids: int = 0, active_dids: int = 0, aliases: int = 0, accounts: int = 0) -> None:
        now = self.get("totals", TOTALS_KEY, TotalsRow) or TotalsRow()
        more = (now.dids + dids, now.active_dids + active_dids, now.aliases + aliases, now.accounts + accounts)
        self.put("totals", TotalsRow(TOTALS_KEY, *more))


def _did_registered(sheet: _Sheet, event: Event) -> None:
    assert event.did_hash is not None
    assert event.controller is not None
    known = sheet.get("dids", event.did_hash, DidRow)
    position = (event.block_number, event.log_index, event.tx_hash)
    sheet.put("dids", DidRow(event.did_hash, event.controller, event.metadata_cid or "", 1, *position))
    sheet.count(dids=known is None, active_dids=known is None or not known.active)


def _did_controller_changed(sheet: _Sheet, event: Event) -> None:
    row = _known_did(sheet, event)
    if row is not None and event.controller is not None:
        sheet.put("dids", row._replace(controller=event.controller))


def _did_metadata_updated(sheet: _Sheet, event: Event) -> None:
    row = _known_did(sheet, event)
    if row is not None:
        sheet.put("dids", row._replace(metadata_cid=event.metadata_cid or ""))


def _did_status_changed(sheet: _Sheet, event: Event) -> None:
    row = _known_did(sheet, event)
    if row is not None and event.active is not None and row.active != event.active:
        sheet.put("dids", row._replace(active=event.active))
        sheet.count(active_dids=event.active - row.active)


def _alias_registered(sheet: _Sheet, event: Event) -> None:
    assert event.alias_hash is not None
    assert event.did_hash is not None
    known = sheet.get("aliases", event.alias_hash, AliasRow)
    position = (event.block_number, event.log_index, event.tx_hash)
    sheet.put("aliases", AliasRow(event.alias_hash, event.did_hash, 1, *position))
    sheet.count(aliases=known is None)


def _alias_status_changed(sheet: _Sheet, event: Event) -> None:
    assert event.alias_hash is not None
    row = sheet.get("aliases", event.alias_hash, AliasRow)
    if row is not None and event.active is not None:
        sheet.put("aliases", row._replace(active=event.active))


def _account_created(sheet: _Sheet, event: Event) -> None:
    assert event.account_address is not None
    assert event.owner_address is not None
    known = sheet.get("accounts", event.account_address, AccountRow)
    position = (event.block_number, event.log_index, event.tx_hash)
    sheet.put("accounts", AccountRow(event.account_address, event.owner_address, 0, *position))
    sheet.put("owners", _owner(event.account_address, event.owner_address, 0))
    sheet.count(accounts=known is None)


def _owner_added(sheet: _Sheet, event: Event) -> None:
    assert event.key_owner is not None
    account = _known_account(sheet, event)
    sheet.put("owners", _owner(account.account_address, event.key_owner, account.generation))


def _owner_removed(sheet: _Sheet, event: Event) -> None:
    assert event.account_address is not None
    assert event.key_owner is not None
    sheet.drop("owners", event.account_address + event.key_owner)


def _recovery_finished(sheet: _Sheet, event: Event) -> None:
    account = _known_account(sheet, event)
    sheet.put("accounts", account._replace(generation=account.generation + 1))


def _owner(account: bytes, key: bytes, generation: int) -> OwnerRow:
    return OwnerRow(account + key, account, key, generation)


def _known_account(sheet: _Sheet, event: Event) -> AccountRow:
    """Return the row of the event's account, which is there, because events of other contracts are left out."""
    assert event.account_address is not None
    row = sheet.get("accounts", event.account_address, AccountRow)
    assert row is not None
    return row


def _known_did(sheet: _Sheet, event: Event) -> DidRow | None:
    """Return the row of the event's DID; None if the DID was registered before the block at which the index starts."""
    assert event.did_hash is not None
    return sheet.get("dids", event.did_hash, DidRow)


_APPLY: dict[str, Callable[[_Sheet, Event], None]] = {
    "DidRegistered": _did_registered,
    "DidControllerChanged": _did_controller_changed,
    "DidMetadataUpdated": _did_metadata_updated,
    "DidStatusChanged": _did_status_changed,
    "AliasRegistered": _alias_registered,
    "AliasStatusChanged": _alias_status_changed,
    "AccountCreated": _account_created,
    "OwnerAdded": _owner_added,
    "OwnerRemoved": _owner_removed,
    "RecoveryFinished": _recovery_finished,
}
