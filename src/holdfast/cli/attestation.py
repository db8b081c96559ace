"""holdfast attestation."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, secrets_or_fail, settings_or_fail

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Check attestations.")


@app.callback()
def _group() -> None:
    """Check attestations."""


@app.command()
def verify(
    file: Annotated[str, typer.Argument(help="A file with the attestation's JSON, or - for standard input.")],
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print whether this service signed an attestation, and whether it is still valid.

    Exits with 1 if the attestation is invalid.
    """
    from holdfast.rules.attestations import verify_at
    from holdfast.rules.identifiers import parse_identifier, parse_verify_channel
    from holdfast.wire.errors import ATTESTATION_INVALID, Refused

    value = _read(file, as_json=as_json)
    settings = settings_or_fail(env_file, as_json=as_json)
    keys = secrets_or_fail(settings, as_json=as_json).signing_keys
    try:
        if not isinstance(value, dict):
            raise Refused(ATTESTATION_INVALID)
        identifier = parse_identifier(str(value.get("identifier")), parse_verify_channel(str(value.get("channel"))))
        verify_at(value, identifier, keys, settings.registrar_did, time.time())
    except Refused as refused:
        emit({"valid": False, "error": refused.row.error}, f"not valid: {refused.row.error}", as_json=as_json)
        raise typer.Exit(Exit.FAILED) from None
    emit({"valid": True, "expires_at": value["expires_at"]}, f"valid until {value['expires_at']}", as_json=as_json)


def _read(file: str, *, as_json: bool) -> Any:
    try:
        return json.loads(sys.stdin.read() if file == "-" else Path(file).read_text("utf-8"))
    except OSError as error:
        fail(Exit.NOT_FOUND, f"{file}: {error.strerror}", as_json=as_json)
    except (ValueError, RecursionError):
        fail(Exit.USAGE, "this is not JSON", as_json=as_json)
