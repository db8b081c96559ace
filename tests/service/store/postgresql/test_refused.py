"""No service runs on an engine that lacks statements, and none on the target of an unfinished move."""

import json
import subprocess

import pytest
from tests.support import forked
from tests.support.serving import PATIENCE_S, environment_of

from holdfast.service.store.postgresql.refused import engine_of

UNFINISHED = "CREATE TABLE holdfast.moving AS SELECT true AS one, false AS finished"


@pytest.mark.parametrize(("version", "engine"), [
    ("PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc", None),
    ("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang", "YugabyteDB"),
    ("CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/04, go1.23.7)", "CockroachDB"),
])  # fmt: skip
def test_engines_are_known_by_what_they_say(version, engine):
    assert engine_of(version) == engine


def run(command, folder, url):
    code, out, err = forked.run(command, environment_of(folder, database_url=url), b"", PATIENCE_S)
    return subprocess.CompletedProcess(command, code, out.decode(), err.decode())


def test_commands_refuse_the_target_of_an_unfinished_move_in_one_line(postgres, fresh_postgres_url, tmp_path):
    told = "unfinished move: call holdfast migrate --to again"
    assert run(["migrate"], tmp_path, fresh_postgres_url).returncode == 0
    for command in (["backup", str(tmp_path / "copy")], ["restore", "--yes", __file__]):
        assert "its own tools (pg_dump, pg_basebackup)" in run(command, tmp_path, fresh_postgres_url).stderr
    postgres.execute(UNFINISHED, fresh_postgres_url.rpartition("/")[2])
    for command in (["serve", "--port", "0"], ["migrate"]):
        refused = run(command, tmp_path, fresh_postgres_url)
        assert (refused.returncode, told in refused.stderr) == (4, True), refused
        assert "Traceback" not in refused.stderr and len(refused.stderr.splitlines()) == 1, refused.stderr
    checked = run(["check", "--json"], tmp_path, fresh_postgres_url)
    rows = {row["subject"]: row for row in json.loads(checked.stdout)}
    assert (checked.returncode, rows["database"]["state"], told in rows["database"]["found"]) == (1, "error", True)
