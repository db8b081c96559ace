"""The vault's own key is the one whose hash is the DID, whatever its tables state about keys."""

import pytest
from tests.support.payments import new_vault

from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import to_base64url
from holdfast.wire.keccak import did_of_key
from holdfast.world.software_key import SoftwareKey


def test_a_changed_statement_about_keys_changes_no_key(tmp_path):
    with VaultStore(directory=tmp_path) as store, new_vault(store) as vault:
        before, stranger = vault.did_key(), SoftwareKey.generate()
        (method,) = vault.query().verification_methods
        vault.exec("resource:verification_methods action:delete", {"id": method.id})
        point = to_base64url(b"\x04" + stranger.x.to_bytes(32) + stranger.y.to_bytes(32))
        row = {"id": method.id, "type": method.type, "controller": method.controller, "purpose": "authentication"}
        vault.exec("resource:verification_methods action:create", {**row, "public_key": point})
        vault.exec("resource:enclaves action:create", {"curve": "P-256"})
        assert vault.query().verification_methods[0].public_key == point
        assert vault.did_key() == before
        own = vault.own_key()
        assert did_of_key(own.x, own.y) == vault.status().did


def test_a_locked_vault_tells_no_key(tmp_path):
    with VaultStore(directory=tmp_path) as store, new_vault(store) as vault:
        vault.lock()
        with pytest.raises(PluginCallError) as refused:
            vault.did_key()
        assert refused.value.code == "vault_locked"
