"""What a log line may carry, whatever happened and whatever somebody sent."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from holdfast.service.logs import JsonFormatter, TextFormatter

SECRET = "ann@example.com https://rpc.example/KEY 123456"


def failed() -> logging.LogRecord:
    """The record of an error whose cause quotes a secret."""
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
def test_a_failure_is_located_without_its_message(formatter: logging.Formatter) -> None:
    line = formatter.format(failed())
    assert not any(part in line for part in SECRET.split())
    assert "builtins.ValueError" in line and "builtins.RuntimeError" in line
    assert "test_logs.py" in line and "in failed" in line and "/api/sessions" in line


def test_causes_that_lead_in_a_circle_end() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "m", (), (ValueError, first, None))
    assert json.loads(JsonFormatter().format(record))["trace"].count("led to") == 1


@pytest.mark.parametrize("breaker", ["\n", "\r", "\u2028", "\u0085", "\x1b[2J", "\u202e"])
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_no_value_begins_a_line_of_its_own(formatter: logging.Formatter, breaker: str) -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, f"said {breaker}a", (), None)
    record.why = f"b{breaker}c"
    line = formatter.format(record)
    assert len(line.splitlines()) == 1 and "\x1b" not in line
