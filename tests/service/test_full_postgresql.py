"""PostgreSQL on a full disk: nothing is acknowledged that is not stored, the node says so, and goes on by itself."""

import os

import pytest
from tests.support.postgres_server import PostgresServer, account
from tests.support.serving import becomes_true
from tests.support.small_disk import fill, mounted

from holdfast.service.store.kinds import database_of
from holdfast.service.store.port import StoreUnavailable


@pytest.fixture
def filled():
    """A small disk, and the URL of a database whose tables are on it; the server's log (WAL) is on another."""
    server = PostgresServer()
    try:
        with mounted(server.folder / "small", 24) as disk:
            if disk is None:
                pytest.skip("this user may not mount a disk")
            server.create().start()
            tables = disk / "tables"
            tables.mkdir()
            if (owner := account()) is not None:
                os.chown(tables, owner.pw_uid, owner.pw_gid)
            server.execute(f"CREATE TABLESPACE small LOCATION '{tables}'")
            server.execute("CREATE DATABASE filled TABLESPACE small")
            yield disk, server.url("filled")
            server.kill()
    finally:
        server.remove()


def test_a_full_disk_of_postgresql_is_503_and_recovers(serve, filled):
    folder, url = filled
    server = serve(database_url=url, MAX_REGISTRATIONS_PER_IP="1000000")
    with server.client() as client:
        assert server.session(client, "first", "192.0.2.1").status_code == 200
        assert client.get("/readyz").status_code == 200
        filler = fill(folder)
        stored, refused = ["first"], []
        while len(refused) < 5:
            name = f"full{len(stored)}"
            answer = server.session(client, name, "192.0.2.1")
            if answer.status_code == 200:
                stored.append(name)
                continue
            refused.append((answer.status_code, answer.json()["error"], answer.headers["retry-after"]))
        assert refused == [(503, "database_unavailable", "1")] * 5
        assert becomes_true(lambda: client.get("/readyz").status_code == 503), "tables have no room to grow"
        assert client.get("/api/sessions/check?handle=first").json()["reason"] == "taken", "reads go on"
        with pytest.raises(StoreUnavailable, match="No space left"):
            database_of(url).try_write()
        filler.unlink()
        assert becomes_true(lambda: client.get("/readyz").status_code == 200)
        assert server.session(client, "after", "192.0.2.1").status_code == 200
        for name in stored:
            assert client.get(f"/api/sessions/check?handle={name}").json()["available"] is False
    assert server.stop() == 0
