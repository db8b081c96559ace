"""The rows that both the service and the indexer read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.chain.contracts.addresses import DEFAULT_CONTRACT_SET
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID
from holdfast.settings.parsers import chain_address, chain_address_or_none, http_url, one_of, url_with
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


DATA_DIR = SettingRow("HOLDFAST_DATA_DIR", _data_dir, Path, "embedded database, generated secrets, outbox")
DATABASE_URL = SettingRow(
    "HOLDFAST_DATABASE_URL",
    lambda values: default_url(values["data_dir"]),
    url_with("sqlite", "postgresql"),
    "where registrations are kept: sqlite:/// or postgresql://",
    secret=True,
)
RPC_URL = SettingRow(
    "HOLDFAST_RPC_URL",
    CHAINS[DEFAULT_CHAIN_ID].public_rpc,
    http_url,
    f"JSON-RPC of chain {DEFAULT_CHAIN_ID}",
    secret=True,
)
DID_REGISTRY = contract_row("HOLDFAST_CONTRACT_DID_REGISTRY", "didRegistry", "DID registry")
LOG = SettingRow("HOLDFAST_LOG", "auto", one_of("auto", "text", "json"), "form of the log")
LOG_LEVEL = SettingRow("HOLDFAST_LOG_LEVEL", "info", one_of(*LEVELS), "the least serious lines that the log contains")
USDC = SettingRow("HOLDFAST_USDC_84532", CHAINS[84532].usdc, chain_address_or_none, "USDC on chain 84532, or none")
APP_FACTORY = contract_row("HOLDFAST_CONTRACT_APP_FACTORY", "appFactory", "account factory")
