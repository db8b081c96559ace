"""The addresses, URLs and test account of a running local world, as a table and as a JSON object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypedDict

from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import ENTRY_POINTS

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.world.local_world import LocalWorld


class Account(TypedDict):
    """An account on the local chain."""

    address: str
    privateKey: str


class Facts(TypedDict):
    """What programs need to know of a running world, with the names of its JSON form."""

    service: str
    rpc: str
    bundler: str
    indexer: str
    chainId: int
    entryPoints: dict[str, str]
    contracts: dict[str, str]
    testAccount: Account
    data: str
    outbox: str
    logs: str


def facts_of(world: LocalWorld, service_url: str, data: Path, logs: Path) -> Facts:
    """Return the addresses, the URLs and the test account of a running world.

    The account's key is one of the publicly known development keys.
    """
    tester = world.accounts.tester
    return {
        "service": service_url,
        "rpc": world.chain.rpc_url,
        "bundler": world.bundler_url,
        "indexer": f"{service_url}/api/indexer",
        "chainId": world.chain.chain_id,
        "entryPoints": {entry_point.version: entry_point.address for entry_point in ENTRY_POINTS},
        "contracts": dict(ADDRESSES),
        "testAccount": {"address": tester.address, "privateKey": tester.private_key},
        "data": str(data),
        "outbox": str(data / "outbox"),
        "logs": str(logs),
    }


def next_steps(facts: Facts) -> list[str]:
    """Return commands to copy."""
    service, tester = facts["service"], facts["testAccount"]["address"]
    return [
        f"open {service}    (register, get test USDC, pay)",
        f"{funding(facts, 'ACCOUNT')}    (100 test USDC for the address that the vault shows)",
        f"curl {service}/api/status",
        f"curl '{service}/api/balance?account={tester}&token=USDC&chainId={facts['chainId']}'",
        f"curl {service}/api/indexer/api/stats",
        f"open {service}/docs",
        "holdfast dev --demo --port 0 --rpc-port 0 --bundler-port 0    (another world, with a payment, narrated)",
    ]


def funding(facts: Facts, account: str) -> str:
    """Return the command that gives an account a hundred test USDC."""
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "anvil_dealERC20",
        "params": [account, facts["contracts"]["DevUSDC"], hex(100_000_000)],
    }
    body = json.dumps(call, separators=(",", ":"))
    return f"curl {facts['rpc']} -H content-type:application/json -d '{body}'"


def table_of(facts: Facts) -> str:
    """Return the table that `holdfast dev` prints.

    The table has no frame and no wrapped lines, so that values can be copied completely.
    """
    rows = _rows(facts)
    width = max(len(label) for label, _ in rows)
    lines = ["Holdfast, on a local chain", "", *(f"  {label:<{width}}  {value}" for label, value in rows)]
    return "\n".join([*lines, "", "Try next", "", *(f"  {step}" for step in next_steps(facts)), ""])


def _rows(facts: Facts) -> list[tuple[str, str]]:
    account = facts["testAccount"]
    return [
        ("service", facts["service"]),
        ("chain (JSON-RPC)", f"{facts['rpc']}  (chain id {facts['chainId']})"),
        ("bundler and sponsor", facts["bundler"]),
        ("indexer", facts["indexer"]),
        *((f"EntryPoint {version}", address) for version, address in facts["entryPoints"].items()),
        *facts["contracts"].items(),
        ("test account", f"{account['address']}  (test ETH, 1,000,000 test USDC)"),
        ("its (public) private key", account["privateKey"]),
        ("mails and SMS", facts["outbox"]),
        ("logs", facts["logs"]),
    ]
