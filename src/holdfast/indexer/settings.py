"""The indexer's settings: the table of its variables, and their conversion to one checked value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.indexer.follower import FollowOptions
from holdfast.rules.chains import DEFAULT_CHAIN_ID
from holdfast.settings.parsers import MAX_PORT, integer_between, seconds
from holdfast.settings.rows import SettingRow, read_rows
from holdfast.settings.shared import (
    APP_FACTORY,
    CHAIN,
    CHAIN_FILE,
    DATA_DIR,
    DID_REGISTRY,
    LOG,
    LOG_LEVEL,
    RPC_URL,
    RPC_URL_8453,
    USDC,
    usdc_of,
)
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

_SQLITE = "sqlite:///"
_MAX_INTEGER = 2**63 - 1  # the limit of a database column
_USUAL = FollowOptions(chain_id=DEFAULT_CHAIN_ID)


@dataclass(frozen=True, kw_only=True)
class IndexerSettings:
    """The settings of an index. URLs may contain secrets, so the repr leaves them out.

    `host` and `port` apply only to `holdfast indexer`.
    """

    host: str
    port: int
    log: str
    log_level: str
    rpc_url: str = field(repr=False)
    registry: bytes
    factory: bytes
    token: bytes | None
    sqlite_path: Path
    follow: FollowOptions


def _database_url(text: str) -> str:
    if not text.startswith(_SQLITE):
        raise ValueError("an address that begins with sqlite:/// is needed")
    return text


def _default_database(values: Mapping[str, Any]) -> str:
    return f"{_SQLITE}{values[DATA_DIR.field] / 'indexer.db'}"


ROWS: tuple[SettingRow, ...] = (
    SettingRow(
        "HOLDFAST_INDEXER_DATABASE_URL",
        _default_database,
        _database_url,
        "where the index is stored: sqlite:/// and the path of a file",
    ),
    SettingRow(
        "HOLDFAST_INDEXER_START_BLOCK",
        str(_USUAL.start_block),
        integer_between(0, _MAX_INTEGER),
        "the registry's first block: saves looking through all before it",
    ),
    SettingRow(
        "HOLDFAST_INDEXER_JOURNAL_BLOCKS",
        str(_USUAL.journal_blocks),
        integer_between(1, _MAX_INTEGER),
        "how deep a reorganisation is undone; a deeper one builds the index afresh",
    ),
    SettingRow("HOLDFAST_INDEXER_POLL_SECONDS", f"{_USUAL.poll_s:g}", seconds, "pause between two looks at the chain"),
    SettingRow(
        "HOLDFAST_INDEXER_BEHIND_SECONDS",
        f"{_USUAL.behind_patience_s:g}",
        seconds,
        "how long a shorter, otherwise equal chain is waited for before the index goes back with it",
    ),
    SettingRow("HOLDFAST_INDEXER_HOST", "127.0.0.1", str, "address that `holdfast indexer` listens on"),
    SettingRow(
        "HOLDFAST_INDEXER_PORT", "8788", integer_between(1, MAX_PORT), "port that `holdfast indexer` listens on"
    ),
)
_OF_CHAIN = (CHAIN_FILE, CHAIN, RPC_URL_8453, RPC_URL, DID_REGISTRY, APP_FACTORY, *USDC)
_ALL_ROWS = (DATA_DIR, *_OF_CHAIN, LOG, LOG_LEVEL, *ROWS)


def read_settings(environment: Mapping[str, str]) -> IndexerSettings:
    """Return the settings from environment variables, checked for an index in this process. Raises SettingError."""
    return _settings(read_values(environment))


def read_values(environment: Mapping[str, str]) -> dict[str, object]:
    """Return every setting's value by its field name. Raises SettingError."""
    return read_rows(_ALL_ROWS, environment)


def _settings(values: Mapping[str, Any]) -> IndexerSettings:
    usdc = usdc_of(values, values[CHAIN.field])
    return IndexerSettings(
        host=values["indexer_host"],
        port=values["indexer_port"],
        log=values[LOG.field],
        log_level=values[LOG_LEVEL.field],
        rpc_url=values[RPC_URL.field],
        registry=from_hex(values[DID_REGISTRY.field]),
        factory=from_hex(values[APP_FACTORY.field]),
        token=from_hex(usdc) if usdc else None,
        sqlite_path=Path(values["indexer_database_url"].removeprefix(_SQLITE)),
        follow=_follow_options(values),
    )


def _follow_options(values: Mapping[str, Any]) -> FollowOptions:
    return FollowOptions(
        chain_id=values[CHAIN.field],
        start_block=values["indexer_start_block"],
        journal_blocks=values["indexer_journal_blocks"],
        poll_s=values["indexer_poll_seconds"],
        behind_patience_s=values["indexer_behind_seconds"],
    )
