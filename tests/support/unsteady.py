"""A plugin of pytest that lists the tests that failed once and passed when they ran again, so that a green run does not hide them."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.terminal import TerminalReporter
from pytest_rerunfailures import ClientStatusDB, StatusDB


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker count by itself how often a test ran.

    The plugin asks the controller before each test, a byte at a time, so that a test can run again whose worker ended;
    where a worker takes whole modules, no other takes up its tests.
    """
    config: Any = session.config
    if isinstance(config.failures_db, ClientStatusDB):
        config.failures_db.sock.close()
        config.failures_db = StatusDB()


def unsteady_tests(reporter: TerminalReporter) -> dict[str, str]:
    """Return the tests that ran again and passed, by name in order, each with the whole error of its first run and its output."""
    failed = {report.nodeid for word in ("failed", "error") for report in reporter.stats.get(word, [])}
    reruns = {report.nodeid: report for report in reporter.stats.get("rerun", [])}
    return {name: _whole(reruns[name]) for name in sorted(reruns.keys() - failed)}


def _whole(report: pytest.TestReport) -> str:
    return "\n".join([report.longreprtext, *(text for _, text in report.sections)])


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Write the list below the run's results, or nothing if every test passed at once."""
    if tests := unsteady_tests(terminalreporter):
        terminalreporter.section(
            f"unsteady tests: {len(tests)} failed once and passed when they ran again", yellow=True
        )
        for name, error in tests.items():
            terminalreporter.line(f"{name}\n{error}")
