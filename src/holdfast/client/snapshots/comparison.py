"""Comparison of two versions of a vault, table by table: rows that only one has, and rows that differ. No merging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.types import Record, Resource
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from holdfast.client.vault.async_vault import AsyncVault

# What identifies a row: the first of these fields that it has.
_KEYS = ("id", "cid", "credential_id", "address", "did", "name")
_PAGE = 10_000


class TableDifference(Record, frozen=True, kw_only=True):
    """One table in which the versions differ; its rows are given by name.

    Attributes:
        table: the resource's name.
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
    found = []
    for resource in Resource:
        ours, theirs = await _rows(here, resource), await _rows(there, resource)
        difference = TableDifference(
            table=str(resource),
            only_here=tuple(sorted(ours.keys() - theirs.keys())),
            only_there=tuple(sorted(theirs.keys() - ours.keys())),
            different=tuple(sorted(name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name])),
        )
        if difference != TableDifference(table=str(resource)):
            found.append(difference)
    return found


async def _rows(vault: AsyncVault, resource: Resource) -> dict[str, Any]:
    listed = await vault.exec(f"resource:{resource} action:list", {"limit": _PAGE})
    if not listed.success or not isinstance(listed.result, list):
        raise PluginCallError("exec", f"the rows of {resource} cannot be listed ({listed.error})")
    return {_name(row): row for row in listed.result}


def _name(row: Any) -> str:
    named = [row[key] for key in _KEYS if isinstance(row, dict) and row.get(key) is not None]
    return str(named[0]) if named else str(row)
