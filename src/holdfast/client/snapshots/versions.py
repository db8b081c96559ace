"""Two versions of a vault: one is opened in a second enclave, they are compared, and removed keys stay removed in both.

Nothing is merged.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.types import Record, Resource
from holdfast.client.vault.removed_keys import CARRIED, name_in, row_of, see_recorded
from holdfast.wire.client_errors import ClientStateError, PluginCallError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider

KEYS = "keys"  # of a TableDifference: the passkeys and passwords that open one version only
# A row is identified by the first of these fields that it has.
_KEYS = ("id", "cid", "credential_id", "address", "did", "name")
_PAGE = 10_000
Name = tuple[str, str]
"""Kind and ID of a key."""


CLOSED_FOR_EVER = frozenset({"wrong_key", "invalid_database"})  # codes of `OtherKeys` for what no later release opens


class OtherKeys(ClientStateError):
    """The given key does not unlock the other version of the vault. `code`: the enclave's reason."""

    def __init__(self, code: str | None) -> None:
        self.code = code
        super().__init__(f"the other version does not open with this key ({code})")


@contextlib.asynccontextmanager
async def opened_beside(vault: AsyncVault, snapshot: Snapshot, key: KeyProvider) -> AsyncIterator[AsyncVault]:
    """Yield a snapshot's vault, unlocked in a second enclave that stores nothing. Raises OtherKeys, PluginCallError."""
    async with type(vault)() as second:
        opened = await second.unlock(key, snapshot.sealed)
        if not opened.success:
            raise OtherKeys(opened.error)
        yield second


class TableDifference(Record, frozen=True, kw_only=True):
    """A table in which two versions of a vault differ; rows are identified by name.

    Attributes:
        table: the resource, or "keys": which passkeys and passwords open only one of the versions.
        only_here: rows that only this device's version has.
        only_there: rows that only the other version has.
        different: rows that both versions have, with different contents.
    """

    table: str
    only_here: tuple[str, ...] = ()
    only_there: tuple[str, ...] = ()
    different: tuple[str, ...] = ()


async def compare_vaults(here: AsyncVault, there: AsyncVault) -> list[TableDifference]:
    """Return the tables in which two unlocked vaults differ, if any. Raises PluginCallError."""
    tables = (*map(str, Resource), KEYS)
    found = [_difference(table, await _rows(here, table), await _rows(there, table)) for table in tables]
    return [it for it in found if it != TableDifference(table=it.table)]


def _difference(table: str, ours: dict[str, Any], theirs: dict[str, Any]) -> TableDifference:
    return TableDifference(
        table=table,
        only_here=tuple(sorted(ours.keys() - theirs.keys())),
        only_there=tuple(sorted(theirs.keys() - ours.keys())),
        different=tuple(sorted(name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name])),
    )


async def _rows(vault: AsyncVault, table: str) -> dict[str, Any]:
    if table == KEYS:
        return {f"{kind}:{key_id}": True for kind, key_id in await carried_keys(vault)}
    listed = await vault.exec(f"resource:{table} action:list", {"limit": _PAGE})
    if not listed.success or not isinstance(listed.result, list):
        raise PluginCallError("exec", f"the rows of {table} cannot be listed ({listed.error})")
    return {_name(row): row for row in listed.result}


def _name(row: Any) -> str:
    named = [row[key] for key in _KEYS if isinstance(row, dict) and row.get(key) is not None]
    return str(named[0]) if named else msgspec.json.encode(row).decode()


async def removed_keys(vault: AsyncVault) -> set[Name]:
    """Return the names of the keys that were removed from an unlocked vault. Raises PluginCallError."""
    listed = await vault.exec("resource:tokens action:list")
    if not listed.success or listed.result is None:
        raise PluginCallError("exec", f"the removed keys cannot be listed ({listed.error})")
    return {name for row in listed.result if (name := name_in(row)) is not None}


async def remove_all(vault: AsyncVault, names: Iterable[Name]) -> bool:
    """Remove these keys from an unlocked vault, and record those that it lacks as removed. Return whether it had any.

    Raises PluginCallError: `last_wrap` if no other key would be left, another code if a removal cannot be recorded.
    """
    had = await carried_keys(vault)
    for name in sorted(names):
        if name in had:
            await vault.remove_key(*name)
        else:
            see_recorded((await vault.exec("resource:tokens action:create", row_of(*name))).error)
    return not had.isdisjoint(names)


async def carried_keys(vault: AsyncVault) -> set[Name]:
    """Return the passkeys and passwords that unlock a vault. Raises PluginCallError."""
    return {(wrap["kind"], wrap["id"]) for wrap in (await vault.keys()).wraps if wrap["kind"] in CARRIED}
