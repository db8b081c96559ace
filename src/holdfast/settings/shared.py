"""The rows that both the service and the indexer read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.chain.contracts.addresses import DEFAULT_CONTRACT_SET
from holdfast.rules.chains import BALANCE_CHAIN_IDS, DEFAULT_CHAIN_ID, Chain
from holdfast.settings.chain_file import MAX_CHAIN_ID, chain_file, known_chains
from holdfast.settings.parsers import (
    chain_address,
    chain_address_or_none,
    http_url,
    integer_between,
    one_of,
    url_with,
)
from holdfast.settings.rows import SettingRow
from holdfast.wire.logs import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping


def contract_row(variable: str, contract: str, about: str) -> SettingRow:
    """Return the row for a contract's address. The default is the deployed address in the contract set."""
    return SettingRow(variable, str(DEFAULT_CONTRACT_SET[contract]), chain_address, about)


def _data_dir(_values: Mapping[str, Any]) -> str:
    # Imported here, because only a process without a configured data folder needs the platform's default folder.
    import platformdirs

    return platformdirs.user_data_dir("holdfast", appauthor=False)


def default_url(data_dir: Path) -> str:
    """Return the URL of the embedded database in the data folder."""
    return f"sqlite:///{data_dir / 'holdfast.db'}"


def main_chain(values: Mapping[str, Any]) -> Chain:
    """Return the row of the chain that the settings read so far choose."""
    return _described(values, values["chain"])


def _described(values: Mapping[str, Any], chain_id: int) -> Chain:
    return known_chains(values.get("chain_file"))[chain_id]


def usdc_of(values: Mapping[str, Any], chain_id: int) -> str:
    """Return the address of USDC on a chain; "" if it has none."""
    return str(values[f"usdc_{chain_id}"] if chain_id in BALANCE_CHAIN_IDS else _described(values, chain_id).usdc or "")


def _known(chain_id: int, values: Mapping[str, Any]) -> None:
    known = known_chains(values.get("chain_file"))
    if chain_id not in known:
        there = ", ".join(map(str, known))
        raise ValueError(f"this chain is not known; known are {there}; describe others in HOLDFAST_CHAIN_FILE")


def _endpoint(values: Mapping[str, Any]) -> str:
    chain = main_chain(values)
    return str(values["rpc_url_8453"]) if chain.chain_id == 8453 else chain.rpc  # noqa: PLR2004 - a chain


def _database_url(text: str) -> str:
    """Parse the address of a database. libpq and many hosts also write `postgres://`."""
    scheme, colon, rest = text.partition(":")
    return url_with("sqlite", "postgresql")(f"postgresql{colon}{rest}" if scheme == "postgres" else text)


def _chain_id(text: str) -> int:
    try:
        return integer_between(1, MAX_CHAIN_ID)(text)
    except ValueError:
        raise ValueError(f"the ID of a chain is needed, such as {DEFAULT_CHAIN_ID}") from None


def _usdc_row(chain_id: int) -> SettingRow:
    def default(values: Mapping[str, Any]) -> str:
        return _described(values, chain_id).usdc or "none"

    return SettingRow(f"HOLDFAST_USDC_{chain_id}", default, chain_address_or_none, f"USDC on chain {chain_id}, or none")


DATA_DIR = SettingRow("HOLDFAST_DATA_DIR", _data_dir, Path, "embedded database, generated secrets, outbox")
DATABASE_URL = SettingRow(
    "HOLDFAST_DATABASE_URL",
    lambda values: default_url(values["data_dir"]),
    _database_url,
    "where registrations are stored: sqlite:/// or postgresql://",
    secret=True,
)
CHAIN_FILE = SettingRow("HOLDFAST_CHAIN_FILE", None, chain_file, "chains to serve in addition to HOLDFAST_CHAIN, TOML")
CHAIN = SettingRow(
    "HOLDFAST_CHAIN",
    str(DEFAULT_CHAIN_ID),
    _chain_id,
    "ID of the chain that registrations and pages use: 84532, 8453, 1 or one of the chain file",
    fits=_known,
)
RPC_URL_8453 = SettingRow(
    "HOLDFAST_RPC_URL_8453",
    lambda values: _described(values, 8453).rpc,
    http_url,
    "JSON-RPC of chain 8453",
    secret=True,
)
RPC_URL = SettingRow("HOLDFAST_RPC_URL", _endpoint, http_url, "JSON-RPC of the chain HOLDFAST_CHAIN", secret=True)
DID_REGISTRY = contract_row("HOLDFAST_CONTRACT_DID_REGISTRY", "didRegistry", "DID registry")
LOG = SettingRow("HOLDFAST_LOG", "auto", one_of("auto", "text", "json"), "form of the log")
LOG_LEVEL = SettingRow("HOLDFAST_LOG_LEVEL", "info", one_of(*LEVELS), "the least serious lines that the log contains")
USDC = tuple(_usdc_row(chain_id) for chain_id in BALANCE_CHAIN_IDS)
APP_FACTORY = contract_row("HOLDFAST_CONTRACT_APP_FACTORY", "appFactory", "account factory")
