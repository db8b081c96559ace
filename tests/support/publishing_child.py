"""A process that keeps changing and publishing a stored vault until killed, and prints each acknowledged root.

Arguments: the vault's folder, the service's address, the service's DID.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys

from holdfast.client.async_client import AsyncClient
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import SnapshotConfig
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import SecretKey


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main() -> None:
    folder, url, service_did = sys.argv[1:]
    config = SnapshotConfig(automatic=False, service_did=service_did)
    with VaultStore(directory=folder) as store:
        async with AsyncVault(store) as vault, AsyncClient(url, vault=vault, snapshots=config) as client:
            assert (await vault.unlock(SecretKey(b"k" * 32))).success
            say("ready")
            for number in itertools.count():
                state = await client.publish_snapshot()
                say(state.acknowledged_root or "")
                fields = {"id": f"{os.getpid()}-{number}", "type": "note", "endpoint": "https://x.example"}
                assert (await vault.exec("resource:services action:create", fields)).success


if __name__ == "__main__":
    asyncio.run(main())
