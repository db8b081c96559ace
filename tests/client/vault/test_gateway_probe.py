"""When the vault boots, it checks whether the configured gateway responds."""

from __future__ import annotations

import pytest
from tests.support.running_service import json_server

from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import VaultSnapshotConfig
from holdfast.client.vault.async_vault import AsyncVault


@pytest.mark.parametrize("status", [200, 500])
async def test_a_configured_gateway_is_asked_for_the_empty_block(tmp_path, status):
    asked = []

    def answer(_method, path, _body):
        asked.append(path)
        return status, b""

    with json_server(answer) as url, VaultStore(directory=tmp_path) as store:
        vault = AsyncVault(store, snapshots=VaultSnapshotConfig(gateway_url=url))
        try:
            assert (await vault.boot()).helia is (status == 200)
        finally:
            await vault.close()
    assert asked == ["/ipfs/bafkqaaa?format=raw"]
