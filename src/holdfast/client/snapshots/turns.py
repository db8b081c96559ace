"""The turns of the flows that change what is stored of a vault's snapshots, even if several clients use the vault."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from holdfast.client.vault.async_vault import AsyncVault


class Turns(NamedTuple):
    """The locks of a vault's flows.

    Attributes:
        uploading: held by an upload, of which each vault has at most one in progress.
        changing: held by what changes the state, and by nothing that waits for a pin.
    """

    uploading: asyncio.Lock
    changing: asyncio.Lock


_TURNS: WeakKeyDictionary[AsyncVault, Turns] = WeakKeyDictionary()


def turns_of(vault: AsyncVault) -> Turns:
    """Return the turns that all flows of this vault take."""
    return _TURNS.setdefault(vault, Turns(asyncio.Lock(), asyncio.Lock()))
