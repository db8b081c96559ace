"""holdfast reserved."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, settings_or_fail
from holdfast.wire.file_errors import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.rules.reserved_identifiers import ReservedList
    from holdfast.service.settings.values import Settings

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Look at and change the reserved handles."
)
Name = Annotated[str, typer.Argument(help="A handle.")]


@app.command("list")
def list_names(env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print all reserved handles, one per line."""
    from holdfast.service.operations.reserved_names import ReservedNames

    settings = settings_or_fail(env_file, as_json=as_json)
    with _complaints(as_json=as_json):
        names = sorted(ReservedNames(settings.reserved_file, settings.reserved_allow_file).current().names)
    emit(names, "\n".join(names), as_json=as_json)


@app.command("test")
def test_name(name: Name, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print whether NAME is reserved. Exits with 1 if NAME is not reserved."""
    from holdfast.service.operations.reserved_names import ReservedNames

    settings = settings_or_fail(env_file, as_json=as_json)
    key = _key(name, as_json=as_json)
    with _complaints(as_json=as_json):
        names = ReservedNames(settings.reserved_file, settings.reserved_allow_file).current()
    held = names.holds(key)
    text = f"reserved ({_why(names, key)})" if held else "free to choose"
    emit({"name": key, "reserved": held}, f"{key}: {text}", as_json=as_json)
    raise typer.Exit(Exit.OK if held else Exit.FAILED)


@app.command()
def add(name: Name, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Reserve NAME: add it to HOLDFAST_RESERVED_FILE and remove it from HOLDFAST_RESERVED_ALLOW_FILE."""
    settings, key = settings_or_fail(env_file, as_json=as_json), _key(name, as_json=as_json)
    with _complaints(as_json=as_json):
        file = _file(settings.reserved_file, "HOLDFAST_RESERVED_FILE", as_json=as_json)
        _rewrite(settings.reserved_allow_file, remove=key)
        _rewrite(file, add=key)
    emit({"name": key, "reserved": True}, f"{key} is reserved", as_json=as_json)


@app.command()
def remove(name: Name, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Free NAME: remove it from HOLDFAST_RESERVED_FILE, or add a built-in name to HOLDFAST_RESERVED_ALLOW_FILE."""
    settings, key = settings_or_fail(env_file, as_json=as_json), _key(name, as_json=as_json)
    with _complaints(as_json=as_json):
        _rewrite(settings.reserved_file, remove=key)
        if _still_reserved(settings, key):
            _rewrite(_file(settings.reserved_allow_file, "HOLDFAST_RESERVED_ALLOW_FILE", as_json=as_json), add=key)
    emit({"name": key, "reserved": False}, f"{key} is free to choose", as_json=as_json)


def _why(names: ReservedList, key: str) -> str:
    from holdfast.rules.reserved_identifiers import reads_as_another_form

    if key in names.names:
        return "on the list"
    return "reads as an address, a number or a website" if reads_as_another_form(key) else "looks like a reserved name"


@contextmanager
def _complaints(*, as_json: bool) -> Iterator[None]:
    """Turn any error in the operator's files into a one-line message and exit code 3."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:  # not a mistake in the files
            raise
        fail(Exit.CONFIGURATION, f"{error.filename}: {error.strerror}", as_json=as_json)
    except ValueError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)


def _still_reserved(settings: Settings, key: str) -> bool:
    from holdfast.service.operations.reserved_names import ReservedNames

    files = (settings.reserved_file, settings.reserved_allow_file)
    return ReservedNames(*(file if file and file.exists() else None for file in files)).current().holds(key)


def _file(path: Path | None, variable: str, *, as_json: bool) -> Path:
    if path is None:
        fail(Exit.CONFIGURATION, f"{variable} is not set: name the file that keeps your own names", as_json=as_json)
    path.touch()
    return path


def _key(name: str, *, as_json: bool) -> str:
    from holdfast.rules.identifiers import Channel, parse_identifier
    from holdfast.wire.errors import Refused

    try:
        return parse_identifier(name, Channel.HANDLE).key
    except Refused:
        fail(Exit.USAGE, f"not a possible handle: {name!r}", as_json=as_json)


def _rewrite(file: Path | None, *, add: str | None = None, remove: str | None = None) -> None:
    """Change one line. The file is replaced as a whole, so that a service never reads a partial file."""
    if file is None or not file.exists():
        return
    from holdfast.rules.reserved_identifiers import read_names

    lines = file.read_text("utf-8").splitlines()
    remaining = [line for line in lines if remove is None or read_names(line) != [remove]]
    if add is not None and add not in read_names("\n".join(remaining)):
        remaining.append(add)
    if remaining != lines:
        descriptor, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write("".join(line + "\n" for line in remaining))
            Path(partial).chmod(file.stat().st_mode & 0o777)
            Path(partial).replace(file)
        except OSError as error:
            error.filename = str(file)  # a failed write names no file
            raise
        finally:
            Path(partial).unlink(missing_ok=True)
