"""Writes the man page of all commands, made from their declarations, into a file. The wheel's build hook runs it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.main import get_command

from holdfast import __version__
from holdfast.cli.exits import MEANINGS
from holdfast.cli.root import COMMANDS, application, command_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABOUT = "self-hosted registration and identity vault"


def man_page() -> str:
    """Return the page in the macros of man(7)."""
    root = get_command(application)
    lines = [
        f'.TH HOLDFAST 1 "" "Holdfast {__version__}"', ".SH NAME", rf"holdfast \- {_ABOUT}", ".SH SYNOPSIS",
        ".B holdfast", ".I command", ".RI [ options ]", ".SH OPTIONS",
        *_options(root, root.make_context("holdfast", [], resilient_parsing=True)), ".SH COMMANDS",
    ]  # fmt: skip
    for name, (_, about) in COMMANDS.items():
        lines += _command(command_of(name), f"holdfast {name}", about)
    lines += [".SH EXIT STATUS"]
    for code, meaning in MEANINGS.items():
        lines += [".TP", str(code.value), _text(meaning)]
    return "\n".join(lines) + "\n"


def _command(command: Any, path: str, about: str) -> Iterator[str]:
    """Describe a command and those below it."""
    context = command.make_context(path, [], resilient_parsing=True)
    below = {name: command.get_command(context, name) for name in getattr(command, "commands", {})}
    if below:
        yield from (".SS " + _text(path), _text(about))
    else:
        usage = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
        yield from (".SS " + _text(" ".join([path, *usage])), _text(command.help or about))
        yield from _options(command, context)
    for name, one in below.items():
        yield from _command(one, f"{path} {name}", one.help or "")


def _options(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in record[0]:
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(record[1]) or r"\&")


def _text(text: str) -> str:
    """Return a text of people, escaped for roff, on one line."""
    line = " ".join(re.sub(r"`([^`]*)`", r"\1", text).split()).replace("\\", r"\e").replace("-", r"\-")
    return line if not line.startswith((".", "'")) else rf"\&{line}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(man_page(), "utf-8")
