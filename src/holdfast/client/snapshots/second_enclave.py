"""Opens a snapshot in a second enclave, so that neither the client's vault nor its store changes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from holdfast.wire.client_errors import ClientStateError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider


class OtherKeys(ClientStateError):
    """The given key does not unlock the other version of the vault."""

    def __init__(self, code: str | None) -> None:
        super().__init__(f"the other version does not open with this key ({code})")


@contextlib.asynccontextmanager
async def opened_beside(vault: AsyncVault, snapshot: Snapshot, key: KeyProvider) -> AsyncIterator[AsyncVault]:
    """Yield a snapshot's vault, unlocked in a second enclave that stores nothing. Raises OtherKeys, PluginCallError."""
    async with type(vault)() as second:
        opened = await second.unlock(key, snapshot.sealed)
        if not opened.success:
            raise OtherKeys(opened.error)
        yield second
