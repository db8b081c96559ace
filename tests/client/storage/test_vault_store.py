"""The vault store: revisions, access by two processes, and what remains after a crash at any point in a write."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing

import msgspec
import pytest
from tests.support.direct_sql import in_store
from tests.support.small_disk import fill

from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.moving.values import noted_move
from holdfast.client.snapshots.shared_notes import NotedPayments
from holdfast.client.snapshots.state import SnapshotState, read_state, write_state
from holdfast.client.storage.vault_store import VaultStore, store_path
from holdfast.client.types import VaultManifest, VaultStoreConfig
from holdfast.content.cids import Block, raw_block
from holdfast.wire.client_errors import ClientStateError, StorageError

DID = "did:new:0x01"


def manifest(did=DID, updated_at=1, root_cid=None):
    return VaultManifest(root_cid=root_cid, did=did, updated_at=updated_at, wasm_version="ab", schema_version=1)


def test_the_newest_revision_is_loaded_and_a_vault_never_goes_back(store):
    store.save(manifest(updated_at=1), b"first", 1)
    store.save(manifest(updated_at=2), b"second", 2)
    assert store.load().sealed == b"second"
    assert store.load(DID).manifest.updated_at == 2
    assert store.load(DID, revision=1).sealed == b"first"
    assert (store.load("did:new:0x02"), store.get_block(raw_block(b"").cid), store.note("x")) == (None, None, None)
    for older in (2, 1):
        with pytest.raises(StorageError, match="not newer"):
            store.save(manifest(), b"x", older)
    assert store.load().sealed == b"second"


def test_only_the_last_revisions_are_kept(tmp_path):
    with VaultStore(directory=tmp_path, retained_revisions=3) as store:
        for number in range(1, 8):
            store.save(manifest(), b"%d" % number, number)
        assert store.revisions(DID) == [7, 6, 5]


def test_several_vaults_must_be_named(store):
    store.save(manifest("did:new:0x01"), b"a", 1)
    store.save(manifest("did:new:0x02"), b"b", 1)
    with pytest.raises(StorageError, match="several vaults"):
        store.load()
    store.delete("did:new:0x01")
    assert store.load().sealed == b"b"


def test_the_file_is_the_owners_alone_and_is_closed_if_others_could_read_it(tmp_path):
    with VaultStore(directory=tmp_path / "new" / "folder") as store:
        store.save(manifest(), b"x", 1)
        assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
        for file in store.path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.path.chmod(0o644)
    with VaultStore(directory=store.path.parent) as store:
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["holdfast-vault.db", "holdfast-vault.lock"])
def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path, name):
    target = tmp_path / "somebody's"
    target.write_bytes(b"")
    target.chmod(0o644)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / name).symlink_to(target)
    with pytest.raises(StorageError):
        VaultStore(directory=tmp_path / "store")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"", 0o644)


def test_the_default_name_and_names_that_are_refused(tmp_path):
    assert store_path(VaultStoreConfig(), tmp_path).name == "holdfast-vault.db"
    for bad in ("../x", "a/b", "", ".hidden", "x" * 65, "a\0b"):
        with pytest.raises(StorageError):
            store_path(VaultStoreConfig(db_name=bad), tmp_path)


def test_two_processes_cannot_hold_it(store, tmp_path):
    with pytest.raises(StorageError, match="in this program or another"):
        VaultStore(directory=tmp_path)
    script = f"from holdfast.client.storage.vault_store import VaultStore; VaultStore(directory={str(tmp_path)!r})"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "in this program or another" in other.stderr
    store.close()
    VaultStore(directory=tmp_path).close()


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(ClientStateError):
        store.load()


def test_files_that_are_no_store_are_storage_errors(tmp_path):
    (tmp_path / "holdfast-vault.db").write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(StorageError, match=r"^Storage: the vault's file cannot be used: file is not a database$"):
        VaultStore(directory=tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot be used: a file has "):
        VaultStore(directory=tmp_path / "file")


def test_a_full_disk_is_named_and_room_suffices(small_disk):
    if small_disk is None:
        pytest.skip("this user may not mount a disk")
    with VaultStore(directory=small_disk) as store:
        store.save(manifest(), b"x", 1)
    filler = fill(small_disk)
    with pytest.raises(StorageError, match=f"no room is left on the disk of {small_disk}; make room there"):
        VaultStore(directory=small_disk)
    filler.unlink()
    with VaultStore(directory=small_disk) as store:
        assert store.load().sealed == b"x"


def test_a_disk_that_is_full_in_the_middle_of_a_change_is_named(tmp_path, monkeypatch):
    def with_little_room(*given, connect=sqlite3.connect, **more):
        (database := connect(*given, **more)).execute("PRAGMA max_page_count = 20")
        return database

    monkeypatch.setattr(sqlite3, "connect", with_little_room)
    with VaultStore(directory=tmp_path) as store:
        for _ in range(2):
            with pytest.raises(StorageError, match="database or disk is full"):
                store.save(manifest(), b"x" * 100_000, 1)
        assert store.save(manifest(), b"x", 1) == store.load()


def test_a_newer_release_is_not_overwritten(tmp_path):
    VaultStore(directory=tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "holdfast-vault.db")) as database, database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StorageError, match="newer release"):
        VaultStore(directory=tmp_path)


def test_blocks_are_verified_both_ways(store):
    block = raw_block(b"data")
    store.put_block(block)
    assert store.get_block(block.cid) == b"data"
    with pytest.raises(StorageError):
        store.put_block(Block(block.cid, b"other"))
    in_store(store, "UPDATE blocks SET data = x'00'")
    with pytest.raises(StorageError, match="does not match its CID"):
        store.get_block(block.cid)


def test_notes_are_kept_and_forgotten(store):
    store.set_note("registration", "step")
    store.set_note("registration", "next")
    assert store.note("registration") == "next"
    store.set_note("registration", None)
    assert store.note("registration") is None
    assert store.replace_note("registration", None, "1")
    assert store.replace_note("registration", None, "2") is False
    assert store.replace_note("registration", "1", "2")
    assert store.note("registration") == "2"


def test_a_manifest_is_replaced_after_a_snapshot(store):
    store.save(manifest(), b"x", 1)
    assert store.update_manifest(manifest(root_cid="bafy"), b"x")
    assert store.load().manifest == manifest(root_cid="bafy")
    assert not store.update_manifest(manifest(), b"y")  # imported since, at the same revision
    assert not store.update_manifest(msgspec.structs.replace(manifest(), did="did:new:0x09"), b"x")
    assert store.load().manifest == manifest(root_cid="bafy")


def test_a_journal_cut_at_any_byte_leaves_a_whole_revision(tmp_path):
    """After a crash the write-ahead log may end anywhere; each prefix of it must open as revision 1 or 2."""
    first, second = b"one" * 1500, b"two" * 1500
    with VaultStore(directory=tmp_path / "a") as store:
        store.save(manifest(), first, 1)
        in_store(store, "PRAGMA wal_checkpoint(TRUNCATE)")
        before = store.path.read_bytes()
        store.save(manifest(), second, 2)
        log = store.path.with_name(store.path.name + "-wal").read_bytes()
    seen = set()
    step = 1 if os.environ.get("HOLDFAST_TEST_EVERY_BYTE") else 37
    for length in [*range(0, len(log), step), len(log)]:
        seen.add(_revision_left(tmp_path / "b", before, log[:length], {1: first, 2: second}))
    assert seen == {1, 2}


def _revision_left(folder, database, log, expected):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "holdfast-vault.db").write_bytes(database)
    (folder / "holdfast-vault.db-wal").write_bytes(log)
    with VaultStore(directory=folder) as store:
        left = store.load()
    assert left.sealed == expected[left.revision]
    return left.revision


def test_a_deleted_vault_leaves_no_note_but_which_snapshot_is_published(store):
    ours, other = "did:new:0x" + "01" * 32, "did:new:0x" + "02" * 32
    for did in (ours, other):
        store.save(manifest(did), b"sealed", 1)
        write_state(
            store, SnapshotState(did=did, revision=9, acknowledged_revision=9, acknowledged_root="b", sequence=4)
        )
        store.set_note(f"registration:{did}", "progress")
    store.set_note("passkey", "of the store")
    store.delete(ours)
    assert read_state(store, ours) == SnapshotState(did=ours, acknowledged_root="b", sequence=4)
    assert read_state(store, other).acknowledged_revision == 9
    assert [store.note(it) for it in (f"registration:{ours}", f"registration:{other}", "passkey")] == [
        None, "progress", "of the store",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("snapshots:did", lambda store: read_state(store, "did")),
        ("payments:did", lambda store: NotedPayments(store, "did").all()),
        ("signed:slot", lambda store: SignedOperations(store).least_fees("slot")),
        ("next:slot", lambda store: SignedOperations(store).next_nonce("slot")),
        ("replaced:slot", lambda store: SignedOperations(store).replaced("slot")),
        ("moving:did", lambda store: noted_move(store, "did")),
    ],
)
@pytest.mark.parametrize("damaged", ['{"nonce":', '{"nonce": "5"}', '""'])
def test_a_damaged_note_is_an_error_of_the_store(store, name, read, damaged):
    store.set_note(name, damaged)
    with pytest.raises(StorageError, match=f"the note {name} is damaged"):
        read(store)


def test_closing_waits_for_another_threads_transaction(tmp_path):
    """A connection that is closed while another thread commits crashes the process."""
    store = VaultStore(directory=tmp_path)
    writing, closing = threading.Event(), threading.Event()

    class Slow:
        did = DID

        def to_json(self):
            writing.set()
            closing.wait(60)
            end.join(0.2)  # long enough for an unguarded close; a guarded one waits for this thread
            return manifest().to_json()

    def close():
        writing.wait(60)
        closing.set()
        store.close()

    end = threading.Thread(target=close)
    end.start()
    store.save(Slow(), b"sealed", 1)
    end.join()
    with VaultStore(directory=tmp_path) as again:
        assert again.load(DID).sealed == b"sealed"
