"""The output of commands: a result, as JSON for machines or as text for people, or an error, as one line on stderr.

What a person reads may quote a service, a node or another person, so it contains nothing that a terminal obeys.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import NoReturn, TextIO

import typer

from holdfast.cli.exits import Exit
from holdfast.wire.file_errors import file_words

# Controls, and what breaks lines or turns the direction of writing.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def for_terminal(text: str) -> str:
    """Return text without the characters that a terminal obeys, other than line feeds and tabs."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text)


def emit(value: object, text: str, *, as_json: bool) -> None:
    """Print `value` as one line of JSON or, without `as_json`, `text`: at once, because some commands continue."""
    write(sys.stdout, json.dumps(value, ensure_ascii=False) if as_json else for_terminal(text))


def emit_done(value: object, text: str, *, as_json: bool) -> None:
    """Print as `emit` what was done, or say it on stderr where the output has no room: done again, it costs again."""
    try:
        emit(value, text, as_json=as_json)
    except OSError as error:
        print_no_more(sys.stdout)
        why = f"it was done, but the output cannot be written: {file_words(error)}"
        fail(Exit.UNAVAILABLE, f"{why}: {json.dumps(value) if as_json else text}", as_json=as_json)


def fail(code: Exit, message: str, *, as_json: bool = False) -> NoReturn:
    """Print what is wrong and what to do, then exit with `code`."""
    line = json.dumps({"error": message, "exit": int(code)}) if as_json else f"holdfast: {_one_line(message)}"
    write(sys.stderr, line)
    raise SystemExit(int(code))


def note(message: str, *, as_json: bool = False) -> None:
    """Print something that the operator should know, as one line on stderr, and continue."""
    write(sys.stderr, json.dumps({"note": message}) if as_json else f"holdfast: note: {_one_line(message)}")


def write(stream: TextIO, text: str) -> None:
    """Print a line at once. If its reader is gone, the command continues: what it did must not be told as failed.

    So it does if what is said on stderr finds no room, because a payment must not end halfway.
    """
    try:
        stream.write(text + "\n")
        stream.flush()
    except OSError as error:
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise
        print_no_more(stream)


def print_no_more(stream: TextIO) -> None:
    """Let go of what could not be written, which Python would try again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(text: str) -> str:
    return for_terminal(" ".join(text.splitlines()))


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
    if not yes and not typer.confirm(for_terminal(question)):
        fail(Exit.FAILED, "nothing was changed")
