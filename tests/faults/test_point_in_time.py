"""PostgreSQL is restored as of a given time from a base backup and archived WAL, as docs/postgresql.md describes."""

import os
import time

import pytest
from tests.support.nodes import nodes_on
from tests.support.postgres_server import PostgresServer, running
from tests.support.serving import DID, becomes_true


@pytest.mark.soak
def test_a_site_goes_back_to_a_moment(tmp_path):
    with running() as primary:
        archive = _archiving(primary)
        url = primary.new_database()
        name = url.rpartition("/")[2]
        with nodes_on(tmp_path / "before", url, 1) as nodes:
            node = nodes.running[0]
            _register(node, "before-the-backup")
            primary.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U", "holdfast",
                        "-D", f"{primary.folder}/base", "-c", "fast", "-X", "none")  # fmt: skip
            _register(node, "after-the-backup")
            moment = primary.execute("SELECT clock_timestamp()::text")[0][0]
            time.sleep(0.05)
            _register(node, "after-the-moment")
        _archive_the_rest(primary)
        restored = PostgresServer(
            restore_command=f"cp {archive}/%f %p", recovery_target_time=moment, recovery_target_action="promote"
        )
        try:
            primary.run("/bin/mv", f"{primary.folder}/base", str(restored.data))
            primary.kill()
            (restored.data / "recovery.signal").touch()
            _own(restored, restored.data / "recovery.signal")
            restored.start()
            assert becomes_true(lambda: not restored.execute("SELECT pg_is_in_recovery()")[0][0])
            with nodes_on(tmp_path / "after", restored.url(name), 1) as nodes:
                node = nodes.running[0]
                assert [_is_free(node, n) for n in ("before-the-backup", "after-the-backup")] == [False, False]
                assert _is_free(node, "after-the-moment"), "what came later is not there"
                _register(node, "after-the-moment", ip="192.0.2.9")
        finally:
            restored.remove()


def _archiving(server):
    """Let the server archive WAL; return the archive's folder."""
    archive = server.folder / "archive"
    archive.mkdir()
    _own(server, archive)
    server.stop()
    server.settings |= {"archive_mode": "on", "archive_command": f"test ! -f {archive}/%f && cp %p {archive}/%f"}
    server.start()
    return archive


def _archive_the_rest(server):
    last = server.execute("SELECT pg_walfile_name(pg_switch_wal())")[0][0]
    done = f"SELECT 1 FROM pg_stat_archiver WHERE last_archived_wal >= '{last}'"
    assert becomes_true(lambda: bool(server.execute(done)))


def _own(server, path):
    owner = server.folder.stat()
    os.chown(path, owner.st_uid, owner.st_gid)


def _register(node, handle, ip="192.0.2.1"):
    with node.client() as client:
        answer = client.post("/api/sessions", json={"handle": handle, "did": DID}, headers={"X-Forwarded-For": ip})
        assert answer.status_code == 200, answer.text


def _is_free(node, handle):
    with node.client() as client:
        return bool(client.get(f"/api/sessions/check?handle={handle}").json()["available"])
