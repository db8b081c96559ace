"""No log line contains a secret, whatever error occurred and whatever was sent."""

import ast
import json
import logging
import re
import subprocess
import sys

import pytest
from tests.support.clean_tree import ROOT

from holdfast.wire.logs import FIELDS, JsonFormatter, Sparse, TextFormatter

CLASS = re.compile(r"type\((error|exc|cause|reason|failure)\)\.__name__|\berror!r|repr\(error")
SECRET = "ann@example.com https://rpc.example/KEY 123456"


def failed():
    """Return the log record of an error whose cause quotes a secret."""
    try:
        try:
            int(SECRET)
        except ValueError as cause:
            raise RuntimeError(f"could not read {SECRET}") from cause
    except RuntimeError:
        record = logging.LogRecord("holdfast.web", logging.ERROR, __file__, 1, "request failed", (), sys.exc_info())
    record.route = "/api/sessions"
    return record


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_failure_is_located_without_its_message(formatter):
    line = formatter.format(failed())
    assert not any(part in line for part in SECRET.split())
    assert "builtins.ValueError" in line and "builtins.RuntimeError" in line
    assert "test_logs.py" in line and "in failed" in line and "/api/sessions" in line


def test_causes_that_lead_in_a_circle_end():
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "m", (), (ValueError, first, None))
    assert json.loads(JsonFormatter().format(record))["trace"].count("led to") == 1


@pytest.mark.parametrize("replaces", [False, True])
def test_an_error_is_told_with_the_one_that_was_handled_unless_it_replaces_it(replaces):
    error = ValueError()
    error.__context__, error.__suppress_context__ = KeyError(), replaces
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "m", (), (ValueError, error, None))
    assert ("KeyError" in JsonFormatter().format(record)) is not replaces


@pytest.mark.parametrize("breaker", ["\n", "\r", "\u2028", "\u0085", "\x1b[2J", "\u202e"])
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_no_value_begins_a_line_of_its_own(formatter, breaker):
    record = logging.LogRecord("x", logging.INFO, __file__, 1, f"said {breaker}a", (), None)
    record.why = f"b{breaker}c"
    line = formatter.format(record)
    assert len(line.splitlines()) == 1 and "\x1b" not in line


SOURCES = [(path, path.read_text()) for path in sorted((ROOT / "src/holdfast").rglob("*.py"))]


def test_every_value_that_is_logged_is_in_the_line():
    calls = [node for _, text in SOURCES for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword)]
    dicts = [call.value for call in calls if call.arg == "extra" and isinstance(call.value, ast.Dict)]
    names = {key.value for each in dicts for key in each.keys if isinstance(key, ast.Constant)}
    assert names > {"why", "offset_s"} and names <= set(FIELDS)


def test_operators_read_no_names_of_python_classes():
    """A trace has them, for developers; so do the attributes of traces (OpenTelemetry, `error.type`)."""
    rooms = ("service", "indexer", "settings", "cli", "world")
    named = {path.name for path, text in SOURCES if path.parts[len(ROOT.parts) + 2] in rooms and CLASS.search(text)}
    assert named == {"otlp.py"}


UNCAUGHT = """
import asyncio, gc, sys, threading
from {module} import {configure}
{configure}("{form}")
SECRET = sys.argv[1]

class Odd:
    def __del__(self):
        raise ValueError(SECRET)

async def fails():
    raise RuntimeError(SECRET)

def raises(text):
    raise KeyError(text)

async def main():
    asyncio.create_task(fails())
    asyncio.get_running_loop().call_soon(raises, SECRET)
    await asyncio.sleep(0.05)
    gc.collect()

asyncio.run(main())
Odd()
thread = threading.Thread(target=raises, args=(SECRET,))
thread.start()
thread.join()
"""


@pytest.mark.parametrize(("module", "configure", "form"), [
    ("holdfast.wire.logs", "configure", "json"), ("holdfast.indexer.serving", "configure_logs", "text"),
], ids=["service", "indexer"])  # fmt: skip
def test_what_was_not_caught_is_logged_without_its_words(module, configure, form):
    """By default, Python and asyncio print the messages of exceptions in tasks, callbacks, finalisers and threads."""
    script = UNCAUGHT.format(module=module, configure=configure, form=form)
    command = [sys.executable, "-c", script, SECRET]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    for message in (
        "Task exception was never retrieved",
        "Exception in callback raises",
        "exception ignored",
        "thread ended by an exception",
    ):
        assert message in done.stderr
    for kind in ("builtins.RuntimeError", "builtins.KeyError", "builtins.ValueError"):
        assert kind in done.stderr
    assert not any(part in done.stderr for part in SECRET.split()), done.stderr


def test_what_strangers_repeat_is_logged_a_few_times_a_minute():
    now = [0.0]
    sparse = Sparse(limit=2, every_s=60, now=lambda: now[0])

    def record():
        return logging.LogRecord("inngest", logging.ERROR, __file__, 1, "unauthorized: %s", ("x",), None)

    assert [sparse.filter(record()) for _ in range(5)] == [True, True, False, False, False]
    now[0] = 60.0
    again = record()
    assert sparse.filter(again)
    assert again.getMessage() == "unauthorized: x (and 3 records left out before it)"
    assert [sparse.filter(record()) for _ in range(2)] == [True, False]
