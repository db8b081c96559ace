"""Writes the tables of settings, limits, exit codes, metrics and admin endpoints into the pages that contain them.

On each page, a pair of comments marks where a table begins and ends. The rest of the page is written by hand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from holdfast.cli.exits import MEANINGS, Exit
from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.rules.limits import LIMIT_NAMES, Limits
from holdfast.service.settings.rows import ROWS
from holdfast.service.telemetry.metric_rows import ROWS as METRICS
from holdfast.wire.admin_endpoints import ADMIN_ENDPOINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.settings.rows import SettingRow
    from holdfast.wire.admin_endpoints import AdminEndpoint

DOCS = Path(__file__).resolve().parent.parent / "docs"
# Descriptions of the defaults that are computed.
COMPUTED = {
    "HOLDFAST_CHANNELS": "all three; in production `handle`, and `email` and `sms` if their providers are set",
    "HOLDFAST_BUNDLER_URL": "the chain file's, if it names one",
    "HOLDFAST_CONFIRMATION_DEPTH": "0 where `HOLDFAST_RPC_URL` is on this machine, else 12",
    "HOLDFAST_DATA_DIR": "the platform's user data folder",
    "HOLDFAST_DATABASE_URL": "`sqlite:///` and `holdfast.db` in the data folder",
    "HOLDFAST_ENV": "`development` with a public URL on this machine, else `production`",
    "HOLDFAST_INDEXER_DATABASE_URL": "`sqlite:///` and `indexer.db` in the data folder",
    "HOLDFAST_MAIL_FROM": "`Holdfast <no-reply@` the public URL's host `>`",
    "HOLDFAST_PUBLIC_RPC_URL": "the chain file's, if it names one",
    "HOLDFAST_PUBLIC_URL": "`http://localhost:` and the port",
    "HOLDFAST_RPC_URL": "the chain's public endpoint; `https://sepolia.base.org` for 84532",
    "HOLDFAST_SPONSOR_CHAINS": "the chain `HOLDFAST_CHAIN`",
    "HOLDFAST_SNAPSHOTS_URL": "`file://` and `snapshots` in the data folder",
    "HOLDFAST_REGISTRAR_DID": "`did:web:` and the public URL's host",
}


def pages() -> dict[Path, str]:
    """Return the text of each page, with its tables up to date."""
    tables = {
        "reference/settings.md": {"settings": settings(ROWS), "indexer settings": settings(INDEXER_ROWS)},
        "settings.md": {"limits": limits()},
        "operating.md": {"exit codes": exit_codes()},
        "reference/metrics.md": {"metrics": metrics()},
        "reference/administration.md": {"admin endpoints": admin_endpoints()},
    }
    return {DOCS / name: renewed(DOCS / name, by_name) for name, by_name in tables.items()}


def renewed(page: Path, tables: dict[str, list[str]]) -> str:
    """Return a page's text with these tables."""
    text = page.read_text("utf-8")
    for name, lines in tables.items():
        text = put(page, text, name, lines)
    return text


def put(page: Path, text: str, name: str, lines: list[str]) -> str:
    """Return the page after updating the table with the given name.

    Raises ValueError if the page has no place for it.
    """
    begin, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{page.name} needs exactly one pair of {begin} and {end}")
    return pattern.sub(lambda _: "\n".join([begin, *lines, end]), text)


def settings(rows: tuple[SettingRow, ...]) -> list[str]:
    """Return one row per setting."""
    lines = [f"| `{row.name}` | {_default(row)} | {row.about}{' (secret)' if row.secret else ''} |" for row in rows]
    return ["| Variable | Default | Meaning |", "|---|---|---|", *lines]


def limits() -> list[str]:
    """Return one row per limit."""
    defaults = Limits()
    rows = [f"| `{name}` | {getattr(defaults, name.lower())} |" for name in LIMIT_NAMES]
    return ["| Variable | Default |", "|---|---|", *rows]


def exit_codes() -> list[str]:
    """Return one row per code."""
    rows = [f"| {code.value} | `{code.name}` | {MEANINGS[code]} |" for code in Exit]
    return ["| Code | Name | Meaning |", "|---|---|---|", *rows]


def metrics() -> list[str]:
    """Return one row per metric."""
    rows = [f"| `{row.name}` | {_labels(row.labels)} | {row.help} |" for row in METRICS]
    return ["| Metric | Labels | Meaning |", "|---|---|---|", *rows]


def admin_endpoints() -> list[str]:
    """Return one row per task of the admin port."""
    rows = [f"| `{row.method} {row.path}` | {row.scope} | {_fields(row)} | {row.summary} |" for row in ADMIN_ENDPOINTS]
    return ["| Endpoint | Scope | Fields | Meaning |", "|---|---|---|---|", *rows]


def _fields(row: AdminEndpoint) -> str:
    names = [f"`{field.encode_name}{'' if field.required else '?'}`" for field in msgspec.structs.fields(row.input)]
    return ", ".join([*names, "`format?`"] if row.lists else names)


def _labels(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _default(row: SettingRow) -> str:
    if not row.default:
        return "none"
    if row.name in COMPUTED:
        return COMPUTED[row.name]
    return f"`{row.default_of({})}`"


if __name__ == "__main__":
    from generated import run

    sys.exit(run(pages))
