"""holdfast check."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, cast

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, secrets_or_fail, settings_or_fail

if TYPE_CHECKING:
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.findings import Finding
    from holdfast.service.store.port import Store

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_MARKS = {"ok": "ok  ", "note": "note", "error": "FAIL"}


@app.command()
def check(
    env_file: EnvFile = None,
    send_event: Annotated[
        bool, typer.Option("--send-event", help="Also send a signed message of type check to HOLDFAST_EVENTS_URL.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every upstream, key, clock and permission, and print what to fix.

    Exits with 1 if anything must be fixed.
    """
    from holdfast.service.diagnosis.checks import diagnose
    from holdfast.settings.rows import SettingError

    settings = settings_or_fail(env_file, as_json=as_json)
    secrets = secrets_or_fail(settings, as_json=as_json)
    try:
        findings = asyncio.run(diagnose(settings, secrets, _opened(settings), send_event=send_event))
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    emit([finding.to_json() for finding in findings], _table(findings), as_json=as_json)
    raise typer.Exit(Exit.FAILED if any(finding.state == "error" for finding in findings) else Exit.OK)


def _opened(settings: Settings) -> Store:
    """Return the store; if it cannot be opened, one whose methods say so. Raises SettingError."""
    from holdfast.service.bootstrap.stores import open_store
    from holdfast.service.store.database import SchemaTooNew
    from holdfast.service.store.port import StoreUnavailable
    from holdfast.service.store.unopened import UnopenedStore

    try:
        return open_store(settings)
    except (StoreUnavailable, SchemaTooNew) as error:
        return cast("Store", UnopenedStore(error))


def _table(findings: list[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]} {finding.subject:12} {finding.found}")
        if finding.fix:
            lines.append(f"     {'':12} -> {finding.fix}")
    return "\n".join(lines)
