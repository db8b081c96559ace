"""The scenario `gas`: the same USDC payment by passkey through our account and other makers', on one chain."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from bench import install
from bench.account_keys import Key
from bench.gas_accounts import Holdfast
from bench.gas_chain import PAYEE, USDC, opened
from bench.gas_peers import peers
from bench.places import say
from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.gas_accounts import Kind
    from bench.gas_chain import GasChain
    from bench.options import Options
    from bench.report import Report
    from holdfast.chain.entry_points import EntryPoint

_AMOUNT = 1_000_000
_FEE_WEI = 2 * 10**9
OURS = "Holdfast, passkey"


@dataclass(frozen=True, slots=True)
class Payments:
    """The gas of two transactions: the one that creates the account and pays, and a later payment."""

    with_creation: int
    later: int


Figures = dict[str, dict[str, Payments]]  # by the account's name, then by the entry point's version


def run(options: Options, report: Report) -> None:
    """Create an account of each kind at each entry point that it has, and pay twice."""
    install.accounts()
    figures = asyncio.run(_measured(options.folder))
    versions = [entry_point.version for entry_point in ENTRY_POINTS]
    head = ["account", *(f"v{each}" for each in versions), *(f"with creation, v{each}" for each in versions)]
    report.table("Gas of a USDC payment", head, [_row(name, figures[name], versions) for name in figures])
    _judge(report, figures)


def _row(name: str, of: dict[str, Payments], versions: list[str]) -> list[str]:
    later = [f"{of[each].later:,}" if each in of else "" for each in versions]
    with_creation = [f"{of[each].with_creation:,}" if each in of else "" for each in versions]
    return [name, *later, *with_creation]


def _judge(report: Report, figures: Figures) -> None:
    """Compare our passkey with each peer's at the same entry point."""
    ours = figures[OURS]
    for name, version, theirs in _of_peers(figures):
        for what, field in (("payment", "later"), ("creation with a payment", "with_creation")):
            times = getattr(ours[version], field) / getattr(theirs, field)
            report.result(f"{what} by passkey, v{version}, against {name}", "<= 1", times, "", met=times <= 1)
    report.goals()


def _of_peers(figures: Figures) -> Iterator[tuple[str, str, Payments]]:
    for name, measured in figures.items():
        if not name.startswith("Holdfast"):
            yield from ((name.partition(",")[0], version, theirs) for version, theirs in measured.items())


def kinds() -> list[Kind]:
    """Return Holdfast's accounts, one for each kind of signature, and the peers'."""
    second = Key.numbered(2**200)
    ours = [
        Holdfast("Holdfast, vault's key", ENTRY_POINTS),
        Holdfast(OURS, ENTRY_POINTS, passkey=True),
        Holdfast("Holdfast, second owner's key", ENTRY_POINTS, second=second),
        Holdfast("Holdfast, second owner's passkey", ENTRY_POINTS, passkey=True, second=second),
    ]
    return [*ours, *peers()]


async def _measured(folder: Path) -> Figures:
    numbers, figures = count(2**201), Figures()
    async with opened(folder / "logs") as chain:
        for kind in kinds():
            say(f"{kind.name}")
            await kind.prepare(chain)
            for entry_point in kind.entry_points:
                found = await _payments(chain, kind, entry_point, Key.numbered(next(numbers)))
                figures.setdefault(kind.name, {})[entry_point.version] = found
    return figures


async def _payments(chain: GasChain, kind: Kind, entry_point: EntryPoint, key: Key) -> Payments:
    signature, arguments = kind.creation(key)
    account = await chain.address(kind.factory, signature, *arguments)
    await chain.give(account, 5 * _AMOUNT)
    first = UserOperation(
        sender=from_hex(account),
        nonce=0,
        call_data=kind.execution(calls.transfer(USDC, PAYEE, _AMOUNT)),
        call_gas_limit=200_000,
        verification_gas_limit=1_000_000,
        pre_verification_gas=60_000,
        max_fee_per_gas=_FEE_WEI,
        max_priority_fee_per_gas=_FEE_WEI,
        factory=from_hex(kind.factory),
        factory_data=call_data(signature, *arguments),
    )
    with_creation = await _paid(chain, kind.first(), entry_point, key, first)
    if further := kind.further(account, key):
        await chain.send(account, further)
    later = replace(first, factory=None, factory_data=None)
    await _paid(chain, kind, entry_point, key, replace(later, nonce=1))
    return Payments(with_creation, await _paid(chain, kind, entry_point, key, replace(later, nonce=2)))


async def _paid(chain: GasChain, kind: Kind, entry_point: EntryPoint, key: Key, operation: UserOperation) -> int:
    """Return the transaction's gas. Raises RuntimeError if the payee does not have the payment."""
    before = await chain.usdc_of(PAYEE)
    signed = operation.signed(kind.signature(key, await kind.digest(chain, operation, entry_point)))
    gas = await chain.handle(signed, entry_point)
    if await chain.usdc_of(PAYEE) - before != _AMOUNT:
        raise RuntimeError(f"{kind.name}: the payee was not paid")
    return gas
