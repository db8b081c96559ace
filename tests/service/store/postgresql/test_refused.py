"""No service runs on a distributed engine, and none on the target of an unfinished move."""

import json
import subprocess

import pytest
from tests.support import forked
from tests.support.serving import PATIENCE_S, environment_of

from holdfast.service.store.postgresql.refused import engine_of

# As the extension's own row says it; the extension itself is not installed.
CITUS = (
    "DO $$ BEGIN SET LOCAL allow_system_table_mods = on;"
    " INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)"
    " VALUES (990001, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.2-1'); END $$"
)
UNFINISHED = "CREATE TABLE holdfast.moving AS SELECT true AS one, false AS finished"


@pytest.mark.parametrize(("version", "extensions", "engine"), [
    ("PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc", ["plpgsql", "pg_stat_statements"], None),
    ("PostgreSQL 17.6 (Debian 17.6-1) on aarch64", ["citus", "plpgsql"], "Citus"),
    ("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang", ["plpgsql"], "YugabyteDB"),
    ("CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/04, go1.23.7)", [], "CockroachDB"),
])  # fmt: skip
def test_engines_are_known_by_what_they_say(version, extensions, engine):
    assert engine_of(version, extensions) == engine


def run(command, folder, url):
    code, out, err = forked.run(command, environment_of(folder, database_url=url), b"", PATIENCE_S)
    return subprocess.CompletedProcess(command, code, out.decode(), err.decode())


@pytest.mark.parametrize(
    ("made", "told"), [(CITUS, "runs on Citus"), (UNFINISHED, "unfinished move: call holdfast migrate --to again")]
)
def test_commands_refuse_the_database_in_one_line(made, told, postgres, fresh_postgres_url, tmp_path):
    if made is UNFINISHED:
        assert run(["migrate"], tmp_path, fresh_postgres_url).returncode == 0
    postgres.execute(made, fresh_postgres_url.rpartition("/")[2])
    for command in (["serve", "--port", "0"], ["migrate"]):
        refused = run(command, tmp_path, fresh_postgres_url)
        assert (refused.returncode, told in refused.stderr) == (4, True), refused
        assert "Traceback" not in refused.stderr and len(refused.stderr.splitlines()) == 1, refused.stderr
    checked = run(["check", "--json"], tmp_path, fresh_postgres_url)
    rows = {row["subject"]: row for row in json.loads(checked.stdout)}
    assert (checked.returncode, rows["database"]["state"], told in rows["database"]["found"]) == (1, "error", True)
