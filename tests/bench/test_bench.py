"""The benchmark generates load and checks the responses, fills databases as requested, and prints its tables.

No figures are checked here, because measurements on a test machine prove nothing.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench.alternate import Sample, times_faster, times_faster_undisturbed
from bench.load import Load, LoadError, fire
from bench.subjects import Answer, ceiling, prepared, started
from tests.support.availability import needs_chain

from bench import shots

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the load client uses epoll")


@pytest.fixture(scope="module")
def fixed_answer(tmp_path_factory):
    """A server that sends the same response to every request."""
    subject = ceiling("granian", Answer((), '{"ok":true}'))
    with prepared(subject, tmp_path_factory.mktemp("ceiling"), 0) as own, started(subject, own) as server:
        yield server


def test_a_closed_loop_counts_up_one_number_for_each_answer_and_an_open_one_asks_as_often_as_told(fixed_answer):
    seen = fire(fixed_answer.port, [shots.register()], Load(connections=4, seconds=0.1), first=7)
    assert seen.answers > 0
    assert seen.next == 7 + seen.answers
    assert 0 < seen.p50_us <= seen.p99_us <= seen.max_us
    assert fire(fixed_answer.port, [shots.register()], Load(connections=4, seconds=0.2, rate=100)).answers == 20


def test_templates_are_requests_of_constant_length():
    for shot in (shots.contracts(), shots.check(5), shots.lookup(5), shots.register()):
        plain = bytes(ord("7") if byte >= 0xE0 else byte for byte in shot.request)
        head, _, body = plain.partition(b"\r\n\r\n")
        assert head.count(b"X-Forwarded-For: 177.177.177.177") == 1
        if shot.route == "register":
            assert f"Content-Length: {len(body)}".encode() in head
            assert json.loads(body)["did"] == shots.SEEDED_DID.format(777777777777)


def test_faster_means_more_answers_or_less_of_the_rest_and_a_disturbed_turn_changes_nothing():
    ours, theirs = [Sample(200, 10, 1, 1)] * 4, [Sample(100, 20, 1, 1)] * 4
    assert times_faster(ours, theirs, "per_second").median == times_faster(ours, theirs, "cpu_us").median == 2
    ours, theirs = [*ours, Sample(1, 900, 1, 1)], [Sample(9, 800, 1, 1), *theirs]
    assert times_faster_undisturbed(ours, theirs, "per_second") == 2
    assert times_faster_undisturbed(ours, theirs, "cpu_us") == 2


def test_command_prints_tables_and_writes_them_as_json(tmp_path):
    words = ["fsync", "--seconds", "0.02", "--alternations", "2"]
    command = [sys.executable, "-m", "bench", *words, "--json", str(tmp_path / "figures.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=400)
    assert "| 4 KiB at the end |" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["machine"]["cpus"]
    assert [len(table["rows"]) for table in figures["tables"]] == [2]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("words", "tables"),
    [
        (["service", "--server", "all", "--connections", "2"], 10),
        (["startup", "--server", "uvicorn"], 1),
        (["lookup-rows", "--identifiers", "50", "200"], 6),
        (["lookup-rows", "--identifiers", "50", "--store", "embedded"], 5),
        (["stores"], 6),
        (["metrics"], 6),
        (["load", "--nodes", "1", "2", "--rates", "100"], 1),
        (["enclave"], 1),
        (["indexer"], 1),
        (["snapshots", "--vaults", "20", "--workers", "2"], 6),
        pytest.param(["pages"], 2, marks=needs_chain),
        pytest.param(["gas"], 2, marks=needs_chain),
    ],
)
def test_scenario_runs(tmp_path, words, tables):
    size = ["--without", "fastify", "fastapi", "--seconds", "0.1", "--alternations", "1", "--rows", "50"]
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench", *words, *size, "--folder", str(tmp_path), "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(file.read_text())["tables"]) == tables, done.stdout


def test_names_are_put_into_requests_with_digits_after_them_and_wrong_answers_are_no_result(fixed_answer):
    """The load generator checks every response, so a request that is cut short or misaligned would cause an error."""
    request = b"GET /" + shots.NAME + b"?" + shots.digits(0) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    shot = shots.Shot("named", request, "ok", names=("a", "a-much-longer-name", "x" * 200))
    assert fire(fixed_answer.port, [shot], Load(connections=4, seconds=0.1)).answers > 0
    for wrong, told in ((shots.Shot("named", request, "ok"), "LOAD_NAMES"), (shots.lookup(10), "wrong answer")):
        with pytest.raises(LoadError, match=told):
            fire(fixed_answer.port, [wrong], Load(connections=1, seconds=0.1))
