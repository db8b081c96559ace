"""holdfast check."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, secrets_or_fail, settings_or_fail, store_or_fail

if TYPE_CHECKING:
    from holdfast.service.diagnosis_upstreams import Finding

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_MARKS = {"ok": "ok  ", "note": "note", "error": "FAIL"}


@app.command()
def check(env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Check every upstream, key, clock and permission, and print what to fix.

    Exits with 1 if anything must be fixed.
    """
    from holdfast.service.diagnosis import diagnose
    from holdfast.settings.rows import SettingError

    settings = settings_or_fail(env_file, as_json=as_json)
    secrets = secrets_or_fail(settings, as_json=as_json)
    store = store_or_fail(settings, as_json=as_json)
    try:
        findings = asyncio.run(diagnose(settings, secrets, store))
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    emit([finding.to_json() for finding in findings], _table(findings), as_json=as_json)
    raise typer.Exit(Exit.FAILED if any(finding.state == "error" for finding in findings) else Exit.OK)


def _table(findings: list[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]} {finding.subject:12} {finding.found}")
        if finding.fix:
            lines.append(f"     {'':12} -> {finding.fix}")
    return "\n".join(lines)
