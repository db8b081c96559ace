"""The pages for operators agree with the code."""

import json
import re
import tomllib
from pathlib import Path

from holdfast.cli.root import COMMANDS
from holdfast.rules.limits import (
    BODY_TIMEOUT_S,
    CONNECTION_BUFFER_BYTES,
    LARGE_RESPONSE_BYTES,
    LARGE_RESPONSE_BYTES_PER_S,
    LARGE_RESPONSE_S,
    MAX_STREAMS,
    TAKEN_BYTES_PER_S,
)
from holdfast.service.serve import STOP_WITHIN_S
from holdfast.service.settings.values import read_settings
from holdfast.service.store.sqlite.schema import connect, migrate
from holdfast.service.telemetry.metric_rows import BY_NAME, LABEL_VALUES
from holdfast.service.telemetry.metrics import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
OPERATORS_COMMANDS = (
    "serve", "ready", "config", "check", "keys", "backup", "restore", "export", "reserved", "identifier", "credential",
    "invitation", "attestation", "enclave", "dev", "contracts", "indexer",
)  # fmt: skip
NAMES = ("deploy", "settings", "operating", "backup", "postgresql", "monitoring", "alerts", "reference/metrics")
PAGES = "".join((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in NAMES)


def test_every_command_is_spoken_of():
    pages = PAGES + (ROOT / "docs" / "local-world.md").read_text("utf-8")
    pages += (ROOT / "docs" / "contracts.md").read_text("utf-8") + (ROOT / "docs" / "indexer.md").read_text("utf-8")
    for name in OPERATORS_COMMANDS:
        assert name in COMMANDS
        assert re.search(rf"holdfast {name}\b|`{name}`", pages), name


def test_each_table_that_names_people_stands_on_the_page_about_personal_data(tmp_path):
    connection = connect(tmp_path / "holdfast.db")
    migrate(connection)
    tables = connection.execute(
        "SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'did'"
    )
    page = (ROOT / "docs" / "privacy.md").read_text("utf-8")
    missing = {name for (name,) in tables if f"`{name}`" not in page}
    connection.close()
    assert missing == set()


def test_every_metric_is_listed_and_no_other():
    named = set(re.findall(r"`(holdfast_\w+)", PAGES))
    assert named == set(BY_NAME) == set(REGISTRY)


def test_the_alert_names_every_job():
    section = PAGES.partition("\n## HoldfastJobStale\n")[2].partition("**Look first.**")[0]
    assert set(re.findall(r"`(\w+)`", section)) == set(LABEL_VALUES["task"])


def test_the_times_are_those_of_the_code():
    assert f"within {STOP_WITHIN_S} s; exit code 0" in PAGES
    defaults = read_settings({})
    assert f"`HOLDFAST_IDLE_TIMEOUT`, {defaults.idle_timeout} s" in PAGES
    assert f"`HOLDFAST_MAX_CONNECTIONS`, {defaults.max_connections} |" in PAGES
    assert f"| a body | {BODY_TIMEOUT_S:.0f} s;" in PAGES
    assert f"each way | {CONNECTION_BUFFER_BYTES // 1024} KiB" in PAGES
    assert f"HTTP/2 connection | {MAX_STREAMS} |" in PAGES
    assert f"less than {TAKEN_BYTES_PER_S // 1024} KiB a second" in PAGES
    assert f"`HOLDFAST_SEND_TIMEOUT`, {defaults.send_timeout} s" in PAGES
    assert f"`HOLDFAST_CONNECTIONS_PER_ADDRESS`, {defaults.connections_per_address} |" in PAGES
    assert f"`HOLDFAST_LARGE_RESPONSES`, {defaults.large_responses} in a process" in PAGES
    assert f"`HOLDFAST_LARGE_RESPONSES_PER_ADDRESS`, {defaults.large_responses_per_address} to" in PAGES
    large, a_second = LARGE_RESPONSE_BYTES // 1024, LARGE_RESPONSE_BYTES_PER_S // 1024
    assert f"{large} KiB | {LARGE_RESPONSE_S:.0f} s, and a second for each {a_second} KiB |" in PAGES


def test_every_direct_dependency_is_explained_and_no_other():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    required = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    direct = {re.match(r"[\w.-]+", line)[0].lower() for group in required for line in group}
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8").partition("The enclave contains only")[0]
    shipped, _, grouped = page.partition("## Building and testing")
    rows = re.findall(r"^\| `([\w.-]+)` \| ([^|]+) \|.* ([^|]+) \|$", shipped, re.MULTILINE)
    groups = re.findall(r"^\| ([^|`]+) \| (.+) \|$", grouped, re.MULTILINE)
    names = [name for name, _, _ in rows] + [name for _, row in groups for name in re.findall(r"`([\w.-]+)`", row)]
    assert sorted(names) == sorted(direct)
    assert all(why.strip() and licence.strip() for _, why, licence in rows)
    assert all(licence.strip() for licence, _ in groups)


def test_every_direct_npm_dependency_is_explained_and_no_other():
    folders = ("browser", "contracts", "tools/typedoc")
    files = [json.loads((ROOT / folder / "package.json").read_text("utf-8")) for folder in folders]
    direct = {name for file in files for kind in ("dependencies", "devDependencies") for name in file.get(kind, {})}
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8").partition("## Contracts and the local chain (npm)")[2]
    rows = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == direct
