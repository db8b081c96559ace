"""The output of commands: a result, as JSON for machines or as text for people, or an error, as one line on stderr."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

import typer

from holdfast.cli.exits import Exit


def emit(value: object, text: str, *, as_json: bool) -> None:
    """Print `value` as one line of JSON or, without `as_json`, `text`: at once, because some commands continue."""
    sys.stdout.write((json.dumps(value, ensure_ascii=False) if as_json else text) + "\n")
    sys.stdout.flush()


def fail(code: Exit, message: str, *, as_json: bool = False) -> NoReturn:
    """Print what is wrong and what to do, then exit with `code`."""
    line = json.dumps({"error": message, "exit": int(code)}) if as_json else f"holdfast: {message}"
    sys.stderr.write(line + "\n")
    raise SystemExit(int(code))


def note(message: str, *, as_json: bool = False) -> None:
    """Print something that the operator should know, as one line on stderr, and continue."""
    sys.stderr.write((json.dumps({"note": message}) if as_json else f"holdfast: note: {message}") + "\n")


def is_terminal() -> bool:
    """Return whether stdin is a terminal, so that a person can be asked."""
    return sys.stdin.isatty()


def require_answer(*, yes: bool, as_json: bool) -> None:
    """Return if the flag is set or a person can be asked on the terminal. Otherwise, exit with USAGE."""
    if not yes and (as_json or not is_terminal()):
        fail(Exit.USAGE, "there is no terminal to ask on: use --yes", as_json=as_json)


def confirm(question: str, *, yes: bool, as_json: bool) -> None:
    """Return if the flag is set or a person confirms on the terminal.

    Otherwise, exit with USAGE or FAILED.
    """
    require_answer(yes=yes, as_json=as_json)
    if not yes and not typer.confirm(question):
        fail(Exit.FAILED, "nothing was changed")
