"""Writes the tables of gas and costs in docs/ from contracts/snapshots."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOTS = ROOT / "contracts" / "snapshots"
PAGE = ROOT / "docs" / "contracts.md"
VERSIONS = ("v0.7", "v0.8", "v0.9")
BEGIN, END = "<!-- gas: tools/gas_table.py -->\n", "<!-- /gas -->"
COSTS_PAGE = ROOT / "docs" / "base.md"
COSTS_BEGIN, COSTS_END = "<!-- costs: tools/gas_table.py -->\n", "<!-- /costs -->"
PRICES_GWEI = (Decimal("0.01"), Decimal(1))
# What a person does, and the operations of the gas table that it takes.
COSTS = {
    "registration with a handle, sponsored, in one operation": ("deploy, register DID and alias, sponsored, v0.7",),
    "the same, in two operations": ("deploy, commit, sponsored, v0.7", "then register DID and alias, sponsored, v0.7"),
    "USDC payment by passkey, sponsored": ("USDC payment by passkey, sponsored, v0.7",),
    "USDC payment by passkey, paid by the account": ("USDC payment by passkey, v0.7",),
}


def pages() -> dict[Path, str]:
    """Return the text of each page, with its table up to date."""
    return {PAGE: renew(PAGE.read_text("utf-8")), COSTS_PAGE: renew_costs(COSTS_PAGE.read_text("utf-8"))}


def renew_costs(page: str) -> str:
    """Return the page with the table of costs made from the snapshots. Raises ValueError without a place for it."""
    before, rest = page.split(COSTS_BEGIN)
    _, after = rest.split(COSTS_END)
    gas = _read("OperationsWithPrecompile")
    rows = []
    for name, operations in COSTS.items():
        used = sum(gas[operation] for operation in operations)
        fees = [f"{used * price / 10**9:f}".rstrip("0").rstrip(".") + " ETH" for price in PRICES_GWEI]
        rows.append("| " + " | ".join([name, f"{used:,}", *fees]) + " |")
    head = " | ".join(["| Step", "gas", *(f"at {price} gwei" for price in PRICES_GWEI)]) + " |"
    return (
        before + COSTS_BEGIN + _table(head, "|---" + "|---:" * (len(PRICES_GWEI) + 1) + "|", rows) + COSTS_END + after
    )


def renew(page: str) -> str:
    """Return the page with the table generated from the snapshots. Raises ValueError if it has no place for them."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + _operations() + "\n" + END + after


def _operations() -> str:
    """Return a row per operation at the default entry point, and by how much the other versions and chains differ."""
    with_precompile, without = _read("OperationsWithPrecompile"), _read("OperationsInSolidity")
    names = sorted({key.rpartition(", ")[0] for key in with_precompile})
    gas = {name: [with_precompile[f"{name}, {version}"] for version in VERSIONS] for name in names}
    less = max(by_version[0] - min(by_version) for by_version in gas.values())
    more = max(without[key] - with_precompile[key] for key in with_precompile)
    rows = [f"| {name} | {by_version[0]:,} |" for name, by_version in gas.items()]
    table = _table(f"| Operation | gas at {VERSIONS[0]} |", "|---|---:|", rows)
    others = " and ".join(VERSIONS[1:])
    return f"{table}\nAt {others}, each costs up to {less:,} less; without the precompile, up to {more:,} more.\n"


def _table(head: str, rule: str, rows: list[str]) -> str:
    return "\n".join([head, rule, *rows]) + "\n"


def _read(group: str) -> dict[str, int]:
    snapshot = json.loads((SNAPSHOTS / f"{group}.json").read_text(encoding="utf-8"))
    return {name: int(gas) for name, gas in snapshot.items()}


if __name__ == "__main__":
    from generated import run

    sys.exit(run(pages))
