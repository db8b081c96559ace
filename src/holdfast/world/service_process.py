"""The service in the local world: `holdfast serve` as a separate program, configured only by settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import aiohttp

from holdfast.chain.contracts import ADDRESSES
from holdfast.rules.chains import CHAINS
from holdfast.world.anvil import CHAIN_ID
from holdfast.world.ports import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holdfast.world.anvil import LocalChain
    from holdfast.world.local_world import LocalWorld

_READY_WITHIN_S = 120.0
_START = "import sys; from holdfast.cli import main; sys.exit(main())"
# The caller's settings are passed to the service, except those that the world sets and those that only a production
# service may have.
_PASSED_ON = ("HOLDFAST_", "MAX_", "RATE_LIMIT_", "EMAIL_CODE_", "ATTESTATION_TTL_", "INNGEST_")
_WITHHELD = frozenset(
    {"HOLDFAST_ENV", "HOLDFAST_ENCLAVE_URL", "HOLDFAST_DATABASE_URL", "HOLDFAST_INDEXER_URL", "HOLDFAST_FAUCET_URL"}
)


async def start_service(world: LocalWorld, data: Path, port: int, environment: Mapping[str, str]) -> str:
    """Start the service, wait until it is ready, and return its address. `environment` is the caller's."""
    settings = service_environment(world, data, port, environment)
    child = await world.supervisor.start("service", [sys.executable, "-c", _START, "serve"], settings)
    url = f"http://{HOST}:{port}"
    await world.supervisor.ready(child, lambda: _is_ready(world.http, url), _READY_WITHIN_S)
    return url


def public_url(port: int) -> str:
    """Return the address for people.

    The address contains `localhost`, because passkeys do not work with IP addresses (WebAuthn section 5.1.3).
    """
    return f"http://localhost:{port}"


def service_environment(world: LocalWorld, data: Path, port: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the service in this world.

    The service uses this world's chain, bundler and contracts. E-mails and text messages are written to the outbox.
    """
    chosen = {name: value for name, value in environment.items() if name.startswith(_PASSED_ON)}
    faucet = {"HOLDFAST_FAUCET_URL": world.faucet_url} if world.faucet_url else {}
    return (
        {name: value for name, value in chosen.items() if name not in _WITHHELD}
        | faucet
        | {
            "HOLDFAST_HOST": HOST,
            "HOLDFAST_PORT": str(port),
            "HOLDFAST_PUBLIC_URL": public_url(port),
            "HOLDFAST_DATA_DIR": str(data),
            "HOLDFAST_RPC_URL": world.chain.rpc_url,
            "HOLDFAST_BUNDLER_URL": world.bundler_url,
            "HOLDFAST_INDEXER_APP": "holdfast.indexer:app",
            "HOLDFAST_INDEXER_DATABASE_URL": f"sqlite:///{data / 'indexer.db'}",
            "HOLDFAST_INDEXER_POLL_SECONDS": environment.get("HOLDFAST_INDEXER_POLL_SECONDS", "0.25"),
            "HOLDFAST_MAIL_URL": "outbox:",
            "HOLDFAST_SMS_URL": "outbox:",
            **_chain_settings(world.chain, data),
            "HOLDFAST_CONTRACT_DID_REGISTRY": ADDRESSES["DIDRegistry"],
            "HOLDFAST_CONTRACT_ACCOUNT_HELPER": ADDRESSES["AccountHelper"],
            "HOLDFAST_CONTRACT_SESSION_SBT": ADDRESSES["SessionSBT"],
            "HOLDFAST_CONTRACT_APP_FACTORY": ADDRESSES["AppFactory"],
        }
    )


def _chain_settings(chain: LocalChain, data: Path) -> dict[str, str]:
    """Return the settings that name the chain. A chain with another ID than usual is described by a chain file."""
    if chain.chain_id == CHAIN_ID:
        return {"HOLDFAST_USDC_84532": ADDRESSES["DevUSDC"]}
    file = data / "chains.toml"
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(chain_row(chain))
    return {"HOLDFAST_CHAIN": str(chain.chain_id), "HOLDFAST_CHAIN_FILE": str(file)}


def chain_row(chain: LocalChain, bundler_url: str | None = None) -> str:
    """Return the row of a chain file for a local chain. The ID decides whether its money is called real."""
    known = "" if chain.chain_id in CHAINS else f'name = "Local chain {chain.chain_id}"\nreal_money = false\n'
    bundler = f'bundler = "{bundler_url}"\n' if bundler_url else ""
    usdc = ADDRESSES["DevUSDC"]
    return (
        f'[[chain]]\nid = {chain.chain_id}\nrpc = "{chain.rpc_url}"\n{known}{bundler}tokens = {{ USDC = "{usdc}" }}\n'
    )


async def _is_ready(http: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with http.get(f"{url}/readyz") as answer:
            return answer.status == 200  # noqa: PLR2004 - HTTP
    except (aiohttp.ClientError, OSError):
        return False
