"""Compares two versions of a vault, table by table, to find the rows that are in only one of them or that differ.

No merging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.snapshots.removals import carried_keys
from holdfast.client.types import Record, Resource
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from holdfast.client.vault.async_vault import AsyncVault

KEYS = "keys"  # of a TableDifference: the passkeys and passwords that open one version only
# A row is identified by the first of these fields that it has.
_KEYS = ("id", "cid", "credential_id", "address", "did", "name")
_PAGE = 10_000


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
    tables = [(str(resource), await _rows(here, resource), await _rows(there, resource)) for resource in Resource]
    tables.append((KEYS, await _keys(here), await _keys(there)))
    found = [_difference(table, ours, theirs) for table, ours, theirs in tables]
    return [it for it in found if it != TableDifference(table=it.table)]


def _difference(table: str, ours: dict[str, Any], theirs: dict[str, Any]) -> TableDifference:
    return TableDifference(
        table=table,
        only_here=tuple(sorted(ours.keys() - theirs.keys())),
        only_there=tuple(sorted(theirs.keys() - ours.keys())),
        different=tuple(sorted(name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name])),
    )


async def _keys(vault: AsyncVault) -> dict[str, Any]:
    return {f"{kind}:{key_id}": True for kind, key_id in await carried_keys(vault)}


async def _rows(vault: AsyncVault, resource: Resource) -> dict[str, Any]:
    listed = await vault.exec(f"resource:{resource} action:list", {"limit": _PAGE})
    if not listed.success or not isinstance(listed.result, list):
        raise PluginCallError("exec", f"the rows of {resource} cannot be listed ({listed.error})")
    return {_name(row): row for row in listed.result}


def _name(row: Any) -> str:
    named = [row[key] for key in _KEYS if isinstance(row, dict) and row.get(key) is not None]
    return str(named[0]) if named else str(row)
