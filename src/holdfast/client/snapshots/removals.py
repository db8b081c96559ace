"""Keys that either of two conflicting versions of a vault has removed stay removed, whichever version is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.storage.sealed_header import wrap_names
from holdfast.client.vault.removed_keys import CARRIED, name_in, row_of, see_recorded
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.client.vault.async_vault import AsyncVault

Name = tuple[str, str]
"""Kind and ID of a key."""


async def removed_keys(vault: AsyncVault) -> set[Name]:
    """Return the names of the keys that were removed from an unlocked vault. Raises PluginCallError."""
    listed = await vault.exec("resource:tokens action:list")
    if not listed.success or listed.result is None:
        raise PluginCallError("exec", f"the removed keys cannot be listed ({listed.error})")
    names = {name_in(row) for row in listed.result}
    return {name for name in names if name is not None}


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


async def may_have_lost(vault: AsyncVault, sealed: bytes) -> bool:
    """Return whether an unlocked vault has a passkey or password that may have been removed from a sealed version."""
    return not await carried_keys(vault) <= set(wrap_names(sealed))


async def carried_keys(vault: AsyncVault) -> set[Name]:
    """Return the passkeys and passwords that unlock a vault. Raises PluginCallError."""
    return {(wrap["kind"], wrap["id"]) for wrap in (await vault.keys()).wraps if wrap["kind"] in CARRIED}
