"""A removed key opens nothing that is still on the disk, and reading a vault stores no new revision."""

import signal
import subprocess
import sys

import pytest
from tests.support.direct_sql import in_store
from tests.support.sealed_vaults import data_key, opens_with
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.storage.sealed_header import wrap_names
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault import removed_keys
from holdfast.client.vault.keys import PasswordKey, SecretKey
from holdfast.content.cids import raw_block
from holdfast.wire.client_errors import PluginCallError, StorageError

OWN_FILES = {f"holdfast-vault.{end}" for end in ("db", "db-wal", "db-shm", "lock")}
LOST = SecretKey(b"l" * 32, "lost")
WORDS = PasswordKey("correct horse battery staple")


@pytest.fixture
def vault(store):
    with Vault(store) as made:
        made.generate(GIVEN, SECRET)
        made.add_key(LOST)
        yield made


def service(vault, name):
    given = {"id": name, "type": "relay", "endpoint": "https://relay.example"}
    assert vault.exec("resource:services action:create", given).success


def on_disk(store):
    return b"".join(file.read_bytes() for file in store.path.parent.iterdir() if file.is_file())


def opens(sealed, key):
    with Vault() as stolen:
        return stolen.unlock(key, sealed).success


def test_removing_a_key_leaves_no_revision_that_it_opens(vault, store):
    service(vault, "before")
    older = store.load().sealed
    at = older.index(b"\x04lost")
    wrap = older[at : at + 93]  # the name and what opens with the key (docs/formats.md)
    taken = vault.snapshot()
    vault.snapshot()
    assert len(store.revisions(store.dids()[0])) == 3
    assert opens(older, LOST)
    assert wrap in on_disk(store)
    vault.remove_key("secret", "lost")
    newest = store.load()
    assert store.revisions(newest.manifest.did) == [newest.revision]
    assert newest.manifest.root_cid is None
    assert not opens(newest.sealed, LOST)
    with pytest.raises(StorageError, match="no gateway"):
        vault.fetch_snapshot(taken.root_cid)
    assert all(store.get_block(block.cid) is None for block in taken.blocks)
    # Neither free pages of the database file nor the journal contain the wrap or data that the wrap opened.
    left = on_disk(store)
    assert {file.name for file in store.path.parent.iterdir()} <= OWN_FILES
    assert wrap not in left
    assert older[-64:] not in left
    assert opens(newest.sealed, SECRET)


def test_with_the_remaining_keys_the_vault_takes_another_data_key(vault, store):
    vault.add_key(WORDS)
    stolen = data_key(store.load().sealed, b"lost", LOST.secret)
    with pytest.raises(PluginCallError) as caught:
        vault.remove_key("secret", "lost", remaining=[SECRET])
    assert caught.value.code == "key_required"
    assert opens(store.load().sealed, LOST)
    vault.remove_key("secret", "lost", remaining=[SECRET, WORDS])
    service(vault, "afterwards")
    newest = store.load().sealed
    assert not opens_with(newest, stolen)  # the data key that the lost key opened in an older copy is useless here
    assert [opens(newest, key) for key in (SECRET, WORDS, LOST)] == [True, True, False]


def test_a_removal_that_could_not_be_stored_is_stored_with_the_next_call(vault, store):
    service(vault, "before")
    in_store(store, "CREATE TRIGGER full BEFORE INSERT ON revisions BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(StorageError):
        vault.remove_key("secret", "lost")
    assert len(store.revisions(store.dids()[0])) == 3  # all or nothing: older revisions go only with a new one
    in_store(store, "DROP TRIGGER full")
    assert vault.exec("resource:services action:list").success
    assert len(store.revisions(store.dids()[0])) == 1
    assert not opens(store.load().sealed, LOST)


def test_reading_stores_nothing(vault, store):
    service(vault, "one")
    before = [(number, store.load(revision=number)) for number in store.revisions(store.dids()[0])]
    for _ in range(2):
        assert vault.query().credentials
        assert vault.exec("resource:services action:list").success
        assert vault.exec("resource:services action:get", {"id": "one"}).success
        assert vault.exec(types.ExecInput(filter="resource:credentials action:list")).success
        assert vault.exec("resource:services action:get", {"id": "none"}).success is False
        assert vault.exec("resource:services action:create", {"id": "one"}).success is False
        assert len(vault.exec("resource:accounts action:list").result) == 1
        assert vault.keys().wraps
    after = [(number, store.load(revision=number)) for number in store.revisions(store.dids()[0])]
    assert after == before
    service(vault, "two")
    assert store.revisions(store.dids()[0])[0] == before[0][0] + 1


def test_the_header_names_the_keys(vault, store):
    vault.add_key(WORDS)
    assert wrap_names(store.load().sealed) == [("secret", "secret"), ("secret", "lost"), ("password", "password")]
    for junk in (b"", b"HFDB", b"x" * 100, store.load().sealed[:60]):
        with pytest.raises(PluginCallError):
            wrap_names(junk)


def test_other_vaults_and_blocks_stay(store):
    with Vault(store) as first:
        kept = first.generate(GIVEN, SECRET).did
        snapshot = first.snapshot()
        service(first, "older")
    with Vault(store) as second:
        did = second.generate(GIVEN, SECRET).did
        second.add_key(LOST)
        store.put_block(raw_block(b"something else"))
        second.remove_key("secret", "lost")
    assert len(store.revisions(kept)) == 2
    assert len(store.revisions(did)) == 1
    assert all(store.get_block(block.cid) for block in (*snapshot.blocks, raw_block(b"something else")))
    store.delete(kept)
    assert (store.revisions(kept), store.get_block(snapshot.root_cid)) == ([], None)
    assert snapshot.sealed[-64:] not in on_disk(store)


_KILLED = """
import os, signal, sys
from holdfast.client.storage import vault_store
from holdfast.client.types import VaultManifest
store = vault_store.VaultStore(directory=sys.argv[1])
manifest = VaultManifest(root_cid=None, did="did:new:0x01", updated_at=1, wasm_version="a", schema_version=1)
store.save(manifest, b"opens with the removed key" * 500, 1)
vault_store.empty_journal = lambda _database: os.kill(os.getpid(), signal.SIGKILL)
store.save(manifest, b"does not", 2, forget_older=True)
"""


def test_a_process_killed_before_it_emptied_the_journal_leaves_that_to_the_next(tmp_path):
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with VaultStore(directory=tmp_path) as store:
        assert store.load().sealed == b"does not"
        assert b"opens with the removed key" not in on_disk(store)


@pytest.mark.parametrize(
    ("error", "recorded"), [("conflict: tokens", True), ("not_found: tokens", True), ("database_failure", False)]
)
def test_a_removal_that_cannot_be_recorded_is_reported(error, recorded):
    def call(function, **_):
        return {"success": False, "error": error} if function == "exec" else {"wraps": []}

    if recorded:
        assert removed_keys.remove(call, "password", "password", ()) == {"wraps": []}
    else:
        with pytest.raises(PluginCallError, match="could not be recorded") as raised:
            removed_keys.remove(call, "password", "password", ())
        assert (raised.value.function_name, raised.value.code) == ("exec", error)
