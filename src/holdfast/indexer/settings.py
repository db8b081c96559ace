"""The indexer's settings: environment variables into one checked value, and the table of those that are its own."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from platformdirs import user_data_path

from holdfast.chain.contracts import addresses
from holdfast.indexer.follower import FollowOptions
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ADDRESS = re.compile(r"0[xX]([0-9a-fA-F]{40})")
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")
_MAX_PORT = 65535
_MAX_WHOLE = 2**63 - 1


class SettingsError(ValueError):
    """A setting is missing or wrong; the message names the variable and never its value."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an index is of and where it lives. URLs may carry secrets and are kept out of the representation.

    `host` and `port` are where `holdfast indexer` listens; another server has its own.
    """

    host: str
    port: int
    rpc_url: str = field(repr=False)
    registry: bytes
    factory: bytes
    sqlite_path: Path
    postgres_url: str | None = field(default=None, repr=False)
    follow: FollowOptions


class Row(NamedTuple):
    """One setting of the indexer's own; those that it shares with the service stand in the service's table."""

    name: str
    about: str
    value: Callable[[Settings], str | int | float]
    secret: bool = False


ROWS: tuple[Row, ...] = (
    Row(
        "HOLDFAST_INDEXER_DATABASE_URL",
        "where the index is kept: sqlite:/// or postgresql://",
        lambda settings: settings.postgres_url or f"{_SQLITE}{settings.sqlite_path}",
        secret=True,
    ),
    Row(
        "HOLDFAST_INDEXER_START_BLOCK",
        "the registry's first block: saves looking through all before it",
        lambda settings: settings.follow.start_block,
    ),
    Row(
        "HOLDFAST_INDEXER_JOURNAL_BLOCKS",
        "how deep a reorganisation is undone; a deeper one builds the index afresh",
        lambda settings: settings.follow.journal_blocks,
    ),
    Row(
        "HOLDFAST_INDEXER_POLL_SECONDS", "pause between two looks at the chain", lambda settings: settings.follow.poll_s
    ),
    Row(
        "HOLDFAST_INDEXER_BEHIND_SECONDS",
        "how long a shorter, otherwise equal chain is waited for before the index goes back with it",
        lambda settings: settings.follow.behind_patience_s,
    ),
    Row("HOLDFAST_INDEXER_HOST", "address that `holdfast indexer` listens on", lambda settings: settings.host),
    Row("HOLDFAST_INDEXER_PORT", "port that `holdfast indexer` listens on", lambda settings: settings.port),
)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment, for an index that is to run here. Raises SettingsError."""
    settings = parse_settings(environment)
    if settings.postgres_url is not None and find_spec("asyncpg") is None:
        raise SettingsError("HOLDFAST_INDEXER_DATABASE_URL: PostgreSQL needs asyncpg: install holdfast[postgres]")
    return settings


def parse_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment, wherever the index is to run. Raises SettingsError."""
    given = {name: value.strip() for name, value in environment.items() if value.strip()}
    data_dir = Path(given.get("HOLDFAST_DATA_DIR") or user_data_path("holdfast", appauthor=False))
    url = given.get("HOLDFAST_INDEXER_DATABASE_URL", f"{_SQLITE}{data_dir / 'indexer.db'}")
    if not url.startswith((_SQLITE, *_POSTGRES)):
        raise SettingsError("HOLDFAST_INDEXER_DATABASE_URL must begin with sqlite:/// or postgresql://")
    is_postgres = url.startswith(_POSTGRES)
    rpc_url = given.get("HOLDFAST_RPC_URL", CHAINS[DEFAULT_CHAIN_ID].public_rpc)
    if not rpc_url.startswith(("http://", "https://")):
        raise SettingsError("HOLDFAST_RPC_URL must be an http:// or https:// address")
    return Settings(
        host=given.get("HOLDFAST_INDEXER_HOST", "127.0.0.1"),
        port=_whole(given, "HOLDFAST_INDEXER_PORT", 8788, least=1, most=_MAX_PORT),
        rpc_url=rpc_url,
        registry=_address(given, "HOLDFAST_CONTRACT_DID_REGISTRY", addresses.DID_REGISTRY),
        factory=_address(given, "HOLDFAST_CONTRACT_APP_FACTORY", addresses.APP_FACTORY),
        sqlite_path=data_dir / "indexer.db" if is_postgres else Path(url.removeprefix(_SQLITE)),
        postgres_url=url if is_postgres else None,
        follow=_follow_options(given),
    )


def _follow_options(given: Mapping[str, str]) -> FollowOptions:
    usual = FollowOptions(chain_id=DEFAULT_CHAIN_ID)
    return FollowOptions(
        chain_id=DEFAULT_CHAIN_ID,
        start_block=_whole(given, "HOLDFAST_INDEXER_START_BLOCK", usual.start_block, least=0),
        journal_blocks=_whole(given, "HOLDFAST_INDEXER_JOURNAL_BLOCKS", usual.journal_blocks, least=1),
        poll_s=_seconds(given, "HOLDFAST_INDEXER_POLL_SECONDS", usual.poll_s),
        behind_patience_s=_seconds(given, "HOLDFAST_INDEXER_BEHIND_SECONDS", usual.behind_patience_s),
    )


def _address(given: Mapping[str, str], name: str, default: str) -> bytes:
    match = _ADDRESS.fullmatch(given.get(name, default))
    if match is None:
        raise SettingsError(f"{name} must be a 20-byte hex address")
    return bytes.fromhex(match[1])


def _whole(given: Mapping[str, str], name: str, default: int, *, least: int, most: int = _MAX_WHOLE) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
        raise SettingsError(f"{name} must be a whole number from {least} to {most}")
    return int(text)


def _seconds(given: Mapping[str, str], name: str, default: float) -> float:
    text = given.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise SettingsError(f"{name} must be a number of seconds")
    return value
