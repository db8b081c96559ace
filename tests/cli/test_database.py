"""`holdfast backup`, `restore` and `export` with a real service."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from tests.support.serving import HOLDFAST, environment_of, plainly
from tests.support.small_disk import fill

from holdfast.cli.exits import Exit


@pytest.fixture
def filled(holdfast, tmp_path):
    assert "opened" in holdfast("check").out  # creates the database
    assert holdfast("backup", tmp_path / "copy.db").code == Exit.OK
    return tmp_path / "copy.db"


def test_backup_and_export_while_running_restore_elsewhere_and_serve_again(serve, holdfast, tmp_path):
    first = serve(MAX_REGISTRATIONS_PER_IP="100000")
    with first.client() as client:
        for number in range(20):
            assert first.session(client, f"ann{number}", "192.0.2.1").status_code == 200
        copy = tmp_path / "copy.db"
        made = holdfast("backup", copy, "--json", data=first.data)
        assert made.code == Exit.OK
        assert made.value == {"file": str(copy), "bytes": copy.stat().st_size}
        assert copy.stat().st_mode & 0o777 == 0o600
        assert first.session(client, "later", "192.0.2.9").status_code == 200  # and it continues to serve
        refused = holdfast("restore", copy, "--yes", "--json", data=first.data)
        assert (refused.code, refused.error["error"]) == (
            Exit.UNAVAILABLE,
            "the service is running: stop it, then restore",
        )
    rows = [json.loads(line) for line in holdfast("export", data=first.data).out.splitlines()]
    assert {row["table"] for row in rows} >= {"identifiers", "audit"}
    assert len([row for row in rows if row["table"] == "identifiers"]) == 21
    # A reader that goes away is not an error to complain about.
    command, environment = f"'{HOLDFAST}' export --json | head -n 1", environment_of(first.data)
    reader = subprocess.run(command, shell=True, env=environment, capture_output=True, timeout=400, check=False)
    assert reader.stdout.count(b"\n") == 1
    assert b"Traceback" not in reader.stderr
    restored = tmp_path / "new place"
    assert holdfast("restore", copy, "--json", data=restored).value == {"database": str(restored / "holdfast.db")}
    assert (restored / "holdfast.db").stat().st_mode & 0o777 == 0o600
    second = serve(restored)
    with second.client() as client:
        free = [client.get(f"/api/sessions/check?handle={name}").json()["available"] for name in ("ann19", "later")]
    assert free == [False, True]


ENDED = """
import signal, sqlite3
class Ended(sqlite3.Connection):
    def backup(self, *_, **__): signal.raise_signal(signal.SIGTERM)
connect = sqlite3.connect
sqlite3.connect = lambda *given, **options: connect(*given, factory=Ended, **options)
from holdfast.cli import main; main()
"""


def test_a_backup_that_is_ended_leaves_nothing(filled):
    before, words = filled.read_bytes(), [sys.executable, "-c", ENDED, "backup", filled]
    ended = subprocess.run(words, env=environment_of(filled.parent / "data"), capture_output=True, check=False)
    assert (ended.returncode, filled.read_bytes()) == (Exit.INTERRUPTED, before), ended.stderr
    assert not list(filled.parent.glob("*.partial"))


def test_restore_over_a_destroyed_database(holdfast, filled):
    database = filled.parent / "data" / "holdfast.db"
    database.write_bytes(b"this was a database " * 1000)
    odd = filled.rename(filled.with_name("50% off? #1.db"))  # a backup may have any name
    for command in (("identifier", "show", "ann"), ("export",), ("backup", odd.with_name("other.db"))):
        assert holdfast(*command).code == Exit.UNAVAILABLE
    checked = holdfast("check", "--json")
    rows = {row["subject"]: row for row in checked.value}
    assert checked.code == Exit.FAILED
    assert [rows[name]["state"] for name in ("database", "disk", "enclave")] == ["error", "ok", "ok"]
    assert "cannot be opened" in rows["database"]["found"]
    asked = holdfast("restore", odd, stdin="y\n")
    assert (asked.code, asked.out) == (Exit.USAGE, "") and "--yes" in asked.err
    assert holdfast("restore", odd, "--yes").code == Exit.OK
    assert holdfast("identifier", "show", "ann").code == Exit.NOT_FOUND


@pytest.mark.parametrize("fault", ["text", "cut", "other", "folder", "empty", "newer"])
def test_what_is_no_backup_is_refused_and_changes_nothing(holdfast, filled, fault):
    bad = filled.with_name("50% off? #1.db")  # characters with a meaning in a URI
    if fault == "folder":
        bad.mkdir()
    elif fault in {"other", "newer"}:
        bad = filled if fault == "newer" else bad
        with closing(sqlite3.connect(bad)) as connection, connection:
            connection.execute("CREATE TABLE other (x)" if fault == "other" else "PRAGMA user_version = 999")
    else:
        whole = filled.read_bytes()
        bad.write_bytes({"text": b"hello", "cut": whole[: len(whole) // 2], "empty": b""}[fault])
    database = filled.parent / "data" / "holdfast.db"
    before = database.read_bytes()
    answer = holdfast("restore", bad, "--yes")
    assert answer.code == Exit.FAILED
    assert answer.err.startswith(f"holdfast: {bad}: ")
    assert database.read_bytes() == before


def test_a_newer_schema_is_refused_by_every_command(holdfast, filled):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("PRAGMA user_version = 999")
    newer = {"database_url": f"sqlite:///{filled}"}
    assert holdfast("config", **newer).code == Exit.OK
    checked = holdfast("check", "--json", **newer)
    assert checked.code == Exit.FAILED
    assert "999" in next(row["found"] for row in checked.value if row["subject"] == "database")
    for word in (("serve",), ("identifier", "show", "ann")):
        answer = holdfast(*word, "--json", **newer)
        assert answer.code == Exit.UNAVAILABLE and "999" in answer.error["error"]


def test_what_is_not_there_is_told_and_nothing_is_made(holdfast, tmp_path):
    for arguments in (("backup", tmp_path / "x.db"), ("export",), ("restore", tmp_path / "none.db")):
        answer = holdfast(*arguments, "--json")
        assert answer.code == answer.error["exit"] == Exit.NOT_FOUND
    long = "x" * 300
    answer = holdfast("restore", long, "--json")
    assert (answer.code, answer.error["error"].count(long)) == (Exit.UNAVAILABLE, 1)
    assert not (tmp_path / "data").exists()


def test_a_backup_never_replaces_the_database_itself_or_a_device(holdfast, filled, tmp_path):
    database, device = filled.parent / "data" / "holdfast.db", tmp_path / "pipe"
    os.mkfifo(device)
    for place in (database, device):
        inode = place.stat().st_ino
        assert holdfast("backup", place).code == Exit.USAGE
        assert place.stat().st_ino == inode


@pytest.mark.parametrize("place", ["no/such/folder/x.db", ".", "copy.db/x.db", "x" * 300])
def test_a_place_that_cannot_be_written_exits_4(holdfast, filled, place):
    answer = holdfast("backup", filled.parent / place, "--json")
    assert answer.code == Exit.UNAVAILABLE and answer.error["error"].count("x" * 300) == (len(place) == 300)
    assert holdfast("restore", filled, "--yes", database_url="sqlite:////proc/no/such.db").code == Exit.UNAVAILABLE
    assert not list(filled.parent.glob("**/*.partial"))


def test_the_embedded_database_is_used_again_after_a_move(holdfast, filled, fresh_postgres_url):
    assert holdfast("migrate", "--to", fresh_postgres_url).code == Exit.OK
    refused = holdfast("serve", "--port", "0")
    assert refused.code == Exit.UNAVAILABLE and "holdfast migrate --back" in refused.err
    assert holdfast("migrate", "--to", fresh_postgres_url).code == Exit.UNAVAILABLE, "it was moved already"
    first, second = (holdfast("migrate", "--back", "--json") for _ in range(2))
    assert (first.code, first.value["was_moved"], second.code, second.value["was_moved"]) == (0, True, 0, False)
    assert "opened, schema current" in holdfast("check").out


def test_a_full_disk_is_named_and_changes_nothing(holdfast, filled, small_disk):
    """Without a service: SQLite then has no room for what it opens a database with, and calls that an I/O error."""
    if small_disk is None:
        pytest.skip("this user may not mount a disk")
    full = small_disk / "data"
    assert holdfast("restore", filled, data=full).code == Exit.OK
    before = (full / "holdfast.db").read_bytes()
    filler = fill(small_disk)
    for command in (("backup", small_disk / "copy.db"), ("restore", filled, "--yes"), ("migrate",)):
        answer = holdfast(*command, "--json", data=full)
        assert answer.code == Exit.UNAVAILABLE
        assert f"no room is left on the disk of {full}" in answer.error["error"], command
    elsewhere = filled.with_name("saved.db")
    vault = {"HOLDFAST_VAULT_DIR": str(small_disk / "vault"), "HOLDFAST_VAULT_PASSWORD": "correct horse battery"}
    assert holdfast("vault", "create", data=full, **vault).code == Exit.UNAVAILABLE
    assert holdfast("backup", elsewhere, data=full).code == Exit.OK, "a copy on another disk is still possible"
    assert '"table": "totals"' in holdfast("export", data=full).out
    assert (full / "holdfast.db").read_bytes() == before
    filler.unlink()
    assert holdfast("restore", elsewhere, "--yes", data=full).code == Exit.OK
    assert not list(small_disk.glob("**/*.partial*"))


@pytest.mark.parametrize("command", ["config", "--help"])
def test_output_that_finds_no_room_is_said_in_one_line(filled, command):
    environment = environment_of(filled.parent / "data")
    with open("/dev/full", "w") as nowhere:  # noqa: PTH123 - a device
        output = {"stdout": nowhere, "stderr": subprocess.PIPE}
        ended = subprocess.run([HOLDFAST, command], env=environment, **output, timeout=400, check=False)
    assert ended.returncode == Exit.UNAVAILABLE
    assert ended.stderr == b"holdfast: the output cannot be written: the disk is full; make room, and call this again\n"


def _as_anyone(*command, data, **settings):
    """Run a command without root's right to enter every folder."""
    environment = environment_of(data, **settings)
    return subprocess.run(
        [*plainly(), HOLDFAST, *command], env=environment, capture_output=True, text=True, timeout=400, check=False
    )


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs setpriv to give rights up")
def test_a_folder_that_this_user_may_not_enter_is_named(filled, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0)
    denied = f"user {os.geteuid()} is not allowed to"
    for command in (("acts",), ("export",), ("backup", tmp_path / "other.db"), ("restore", filled, "--yes")):
        ended = _as_anyone(*command, data=closed)
        assert (ended.returncode, ended.stderr.count("\n")) == (Exit.UNAVAILABLE, 1), ended.stderr
        assert f"{closed / 'holdfast.db'}: {denied}" in ended.stderr
    for command in (("backup", closed / "copy.db"), ("restore", closed / "copy.db", "--yes")):
        ended = _as_anyone(*command, data=tmp_path / "data")
        what_to_do = "name another, or call this as a user who may"
        assert ended.stderr == f"holdfast: {closed / 'copy.db'} cannot be used: {denied}; {what_to_do}\n"
        assert ended.returncode == Exit.UNAVAILABLE
    url = f"file://{closed}/x"
    examined = _as_anyone("check", data=tmp_path / "data", enclave_url=url, snapshots_url=url)
    assert f"there is no folder {closed}/x" in examined.stdout
    assert f"the storage of snapshots failed: {denied}" in examined.stdout
