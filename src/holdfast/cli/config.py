"""holdfast config."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, settings_or_fail, tell_unknown_settings

if TYPE_CHECKING:
    from holdfast.service.settings.values import Settings

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def config(env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print the effective settings of the service and the indexer, with secrets masked.

    Settings that were given are marked with *; all others have their default values. Exits with 3 if a setting is
    invalid.
    """
    settings = settings_or_fail(env_file, as_json=as_json)
    tell_unknown_settings(as_json=as_json)
    values, about = _of_service(settings)
    indexer_values, indexer_about = _of_indexer(as_json=as_json)
    values |= indexer_values
    about |= indexer_about
    lines = [
        f"{'*' if name in os.environ else ' '} {name}={_text(value)}{_comment(about.get(name))}"
        for name, value in values.items()
    ]
    emit(values, "\n".join(lines), as_json=as_json)


def _of_service(settings: Settings) -> tuple[dict[str, Any], dict[str, str]]:
    from holdfast.service.settings.rows import ROWS

    values: dict[str, Any] = {row.name: _shown(getattr(settings, row.field), secret=row.secret) for row in ROWS}
    values |= {name.upper(): getattr(settings.limits, name) for name in type(settings.limits).__slots__}
    values["ATTESTATION_SIGNING_KEY"] = "set" if os.environ.get("ATTESTATION_SIGNING_KEY") else None
    return values, {row.name: row.about for row in ROWS}


def _of_indexer(*, as_json: bool) -> tuple[dict[str, Any], dict[str, str]]:
    from holdfast.indexer.settings import ROWS, read_values
    from holdfast.settings.rows import SettingError

    try:
        values = read_values(os.environ)
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    shown = {row.name: _shown(values[row.field], secret=row.secret) for row in ROWS}
    return shown, {row.name: row.about for row in ROWS}


def _shown(value: Any, *, secret: bool) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, tuple):
        return ",".join(str(network) for network in value) or "none"
    return mask(str(value)) if secret else str(value)


def mask(url: str) -> str:
    """Return what may be shown of a URL that may contain a secret.

    These parts are shown: the scheme and host of http URLs, and the path of files. Of all other URLs, only the scheme
    is shown, because a key in place of the host, such as `resend://KEY`, looks like a host.
    """
    from holdfast.service.store.kinds import FILE_ADDRESSES

    scheme, _, rest = url.partition(":")
    if not rest and url != "outbox:":
        return "***"
    if url == "outbox:" or url.startswith(("file:///", *FILE_ADDRESSES)):
        return url
    if scheme not in {"http", "https"}:
        return f"{scheme}:***"
    # An unescaped /, ? or # in a password looks like the end of the host, so everything before the last @ is hidden.
    hidden, at, shown = rest.removeprefix("//").rpartition("@")
    host, slash, path = re.sub(r"[?#]", "/", shown).partition("/")
    return f"{scheme}://{'***' if hidden or at else ''}{at}{host}{slash and path and '/***'}"


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _comment(about: str | None) -> str:
    return f"   # {about}" if about else ""
