"""After a pairing, all of the person's passkeys and passwords open the vaults on both devices."""

import pytest
from tests.support.direct_sql import in_store
from tests.support.sealed_vaults import data_key
from tests.support.vaults import GIVEN, SECRET

from holdfast.client.blocking.vault import Vault
from holdfast.client.storage.sealed_header import wrap_names
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.keys import HostKey, KnownKey, PasswordKey, SecretKey
from holdfast.wire.client_errors import PluginCallError, StorageError

LAPTOP = KnownKey(HostKey("prf", "laptop", secret=b"l" * 32))
PHONE = KnownKey(HostKey("prf", "phone", secret=b"p" * 32))
WORDS = PasswordKey("correct horse battery staple")
OTHER_WORDS = PasswordKey("another horse and its rider")


@pytest.fixture
def old(tmp_path):
    with VaultStore(directory=tmp_path / "old") as store, Vault(store) as vault:
        vault.generate(GIVEN, SECRET)
        vault.add_key(LAPTOP)
        yield vault


@pytest.fixture
def new(tmp_path):
    with VaultStore(directory=tmp_path / "new") as store, Vault(store) as vault:
        yield vault


def begun(old, new):
    first = new.sync_init()
    answer = old.sync_respond(first.session_id, public_key=first.public_key)
    shown = new.sync_compare(first.session_id, public_key=answer.public_key)
    old.sync_compare(first.session_id, reveal=shown.reveal)
    return first.session_id, shown.code


def paired(old, new, key=PHONE, **changes):
    session, code = begun(old, new)
    sent = old.sync_respond(session, code=code)
    given = {"encrypted_vault": sent.encrypted_vault, "sealed_vault": sent.sealed_vault, **changes}
    done = new.sync_complete(session, code, given["encrypted_vault"], key, sealed_vault=given["sealed_vault"])
    assert done.success, done.error
    return sent


def opens(sealed, key):
    with Vault() as elsewhere:
        return elsewhere.unlock(key, sealed).success


def test_the_passkeys_and_passwords_of_both_devices_open_the_new_ones_vault(old, new):
    old.add_key(WORDS)
    paired(old, new, OTHER_WORDS)
    new.add_key(PHONE)
    sealed = new.store.load().sealed
    assert all(opens(sealed, key) for key in (LAPTOP, PHONE, WORDS, OTHER_WORDS))
    assert not opens(sealed, SECRET), "a key of kind secret belongs to the device that made it"
    assert {name for _, name in wrap_names(sealed)} >= {"laptop", "phone", "password"}
    before, after, known = old.store.load().sealed, sealed, (b"laptop", b"l" * 32, "prf")
    assert data_key(before, *known) == data_key(after, *known)
    assert new.query() == old.query()


def test_what_was_not_stored_is_stored_and_not_forgotten(old, new):
    in_store(old.store, "CREATE TRIGGER full BEFORE INSERT ON revisions BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(StorageError):
        old.exec("resource:services action:create", {"id": "one", "type": "note", "endpoint": "https://x.example"})
    in_store(old.store, "DROP TRIGGER full")
    paired(old, new)
    with Vault(old.store) as again:
        assert again.unlock(LAPTOP).success
        assert [row["id"] for row in again.exec("resource:services action:list").result] == ["one"]


@pytest.mark.parametrize("change", ["left out", "cut", "of an earlier pairing", "the stored one", "none"])
def test_keys_that_were_changed_on_their_way_are_refused(old, new, change):
    with Vault() as before:
        earlier = paired(old, before).sealed_vault
    session, code = begun(old, new)
    sent = old.sync_respond(session, code=code)
    changed = {
        "left out": "",
        "cut": sent.sealed_vault[:-8],
        "of an earlier pairing": earlier,
        "the stored one": old.store.load().sealed.hex(),
        "none": "AAAA",
    }[change]
    with pytest.raises(PluginCallError) as caught:
        new.sync_complete(session, code, sent.encrypted_vault, PHONE, sealed_vault=changed)
    assert caught.value.code == "sync_rejected"
    assert new.store.load() is None
    assert new.status().initialized is False
    paired(old, new)  # another attempt


def test_a_vault_that_is_stored_there_already_stays(old, new):
    paired(old, new)
    before = new.store.load()
    with Vault(new.store) as again, pytest.raises(StorageError, match="stored here already"):
        paired(old, again)
    assert new.store.load() == before


def test_a_vault_with_sixteen_keys_is_not_given_without_them(old, new):
    for number in range(14):
        old.add_key(SecretKey(bytes([number]) * 32, f"key {number}"))
    session, code = begun(old, new)
    with pytest.raises(PluginCallError) as caught:
        old.sync_respond(session, code=code)
    assert caught.value.code == "value_too_large"
