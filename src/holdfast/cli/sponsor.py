"""`holdfast sponsor`: the paymaster of the service's own sponsor, its deposit and its budgets."""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, emit_done, fail
from holdfast.cli.settings import AsJson, EnvFile, secrets_or_fail, settings_or_fail, store_or_fail
from holdfast.rules.chains import known_money_text, money_text
from holdfast.rules.sponsoring import GWEI, day_of, in_ether, limit_of_did
from holdfast.settings.chain_file import known_chains

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.operations.sponsor import Sponsor
    from holdfast.service.settings.values import Settings

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Pay for people's operations: the paymaster, its deposit and budgets.",
)
Chain = Annotated[int | None, typer.Option("--chain", metavar="ID", help="One of HOLDFAST_SPONSOR_CHAINS.")]
Yes = Annotated[bool, typer.Option("--yes", help="Send without asking.")]
Amount = Annotated[str, typer.Argument(metavar="ETH", help="How much, such as 0.05.")]
_WEI = 10**18
_WORDS = 2**256  # how many amounts a word of the chain can hold

T = TypeVar("T")


@app.command()
def deploy(chain: Chain = None, yes: Yes = False, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Deploy the paymaster of HOLDFAST_SPONSOR_KEY, for which the key's address pays."""

    async def work(sponsor: Sponsor) -> dict[str, Any]:
        from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER
        from holdfast.chain.contracts.paymasters import paymaster_of

        contract, rpc = paymaster_of(sponsor.approver.address), sponsor.connect()
        sent = None
        if await rpc.get_code(contract.address) != contract.runtime:
            sent = await _sent(sponsor, DETERMINISTIC_DEPLOYER, contract.deployment, as_json=as_json)
        if await rpc.get_code(contract.address) != contract.runtime:
            fail(Exit.FAILED, "the paymaster is not at its address: has this chain all contracts?", as_json=as_json)
        return {"paymaster": contract.address, "transaction": sent}

    _ask("Deploy the paymaster?", chain, env_file, yes=yes, as_json=as_json)
    found = _run(work, chain, env_file, as_json=as_json)
    emit(found, f"paymaster {found['paymaster']}  {found['transaction'] or 'was there already'}", as_json=as_json)


@app.command()
def deposit(
    amount: Amount, chain: Chain = None, yes: Yes = False, env_file: EnvFile = None, as_json: AsJson = False
) -> None:
    """Move ETH from the key's address to the paymaster's deposit, from which operations are paid."""
    wei = _wei(amount, as_json=as_json)

    async def work(sponsor: Sponsor) -> dict[str, Any]:
        from holdfast.chain.abi import call_data

        data = call_data("deposit(address)", sponsor.entry_point)
        if not await sponsor.connect().get_code(sponsor.approver.paymaster):
            fail(Exit.FAILED, "the paymaster is not deployed yet: holdfast sponsor deploy", as_json=as_json)
        return {"transaction": await _sent(sponsor, sponsor.approver.paymaster, data, wei, as_json=as_json)}

    _ask(f"Deposit {amount} ETH?", chain, env_file, yes=yes, as_json=as_json)
    found = _run(work, chain, env_file, as_json=as_json)
    emit_done(found, f"deposited {amount} ETH  {found['transaction']}", as_json=as_json)


@app.command()
def withdraw(
    amount: Amount,
    to: Annotated[str, typer.Argument(metavar="ADDRESS", help="Who receives it.")],
    chain: Chain = None,
    yes: Yes = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Take ETH out of the deposit."""
    from holdfast.settings.parsers import chain_address

    wei = _wei(amount, as_json=as_json)
    try:
        chain_address(to)
    except ValueError as error:
        fail(Exit.USAGE, f"ADDRESS: {error}", as_json=as_json)

    async def work(sponsor: Sponsor) -> dict[str, Any]:
        from holdfast.chain.abi import call_data

        data = call_data("withdraw(address,address,uint256)", sponsor.entry_point, to, wei)
        return {"transaction": await _sent(sponsor, sponsor.approver.paymaster, data, as_json=as_json)}

    _ask(f"Withdraw {amount} ETH to {to}?", chain, env_file, yes=yes, as_json=as_json)
    found = _run(work, chain, env_file, as_json=as_json)
    emit_done(found, f"withdrew {amount} ETH  {found['transaction']}", as_json=as_json)


@app.command()
def balance(chain: Chain = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print the deposit, and what the key's address has for commitments and its own transactions."""
    found = _run(_funds, chain, env_file, as_json=as_json)
    emit(found, "\n".join(f"{name:10} {value}" for name, value in found.items()), as_json=as_json)


@app.command()
def budgets(chain: Chain = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print what is spent and reserved of today's budgets; those of DIDs under hashes."""
    found = _run(_budgets, chain, env_file, as_json=as_json)
    emit(found, _budgets_text(found), as_json=as_json)


@app.command()
def status(chain: Chain = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print the addresses, the deposit, today's budgets and how many approvals are open.

    Exits with 1 if the paymaster is not deployed or its deposit is low.
    """
    from holdfast.chain.contracts.paymasters import paymaster_of

    async def work(sponsor: Sponsor) -> dict[str, Any]:
        contract = paymaster_of(sponsor.approver.address)
        there = await sponsor.connect().get_code(contract.address) == contract.runtime
        opened = await sponsor.store.open_sponsorships(sponsor.chain_id, 1000)
        funds = await _funds(sponsor)
        return {
            "chainId": sponsor.chain_id,
            "address": sponsor.approver.address,
            "paymaster": contract.address,
            "deployed": there,
            **funds,
            "low": Decimal(funds["deposit"].split()[0]) * GWEI < sponsor.limits.low,
            "open": len(opened),
            "budgets": await _budgets(sponsor),
        }

    found = _run(work, chain, env_file, as_json=as_json)
    rows = [f"{name:10} {value}" for name, value in found.items() if name != "budgets"]
    emit(found, "\n".join([*rows, _budgets_text(found["budgets"])]), as_json=as_json)
    raise typer.Exit(Exit.OK if found["deployed"] and not found["low"] else Exit.FAILED)


async def _funds(sponsor: Sponsor) -> dict[str, str]:
    from holdfast.service.operations.sponsor_settlement import funds_of

    funds = await funds_of(sponsor)
    return {"deposit": in_ether(funds.deposit // GWEI), "coin": in_ether(funds.coin // GWEI)}


async def _budgets(sponsor: Sponsor) -> list[dict[str, str]]:
    limits = sponsor.limits
    known = {"all": limits.day} | {f"contract {name}": gwei for name, gwei in limits.contracts.items()}
    spent = dict(await sponsor.store.spent(sponsor.chain_id, day_of(time.time())))
    subjects = [*known, *(name for name in spent if name and name not in known)]
    budgets = {name: known.get(name, limit_of_did(limits, name)) for name in subjects}
    return [
        {"subject": name, "spent": in_ether(spent.get(name, 0)), "budget": in_ether(limit)}
        for name, limit in budgets.items()
    ]


def _budgets_text(rows: list[dict[str, str]]) -> str:
    return "\n".join(f"{row['subject']:53} {row['spent']} of {row['budget']}" for row in rows)


async def _sent(sponsor: Sponsor, to: str, data: bytes, value: int = 0, *, as_json: bool) -> str:
    """Send a transaction from the key's address and return its hash. Exits with FAILED unless it succeeds."""
    from holdfast.chain.sent_transactions import transact
    from holdfast.wire.encoding import to_hex

    receipt = await transact(sponsor.connect(), sponsor.commitments.key, to, data, value)
    sent = to_hex(receipt.transaction_hash)
    if not receipt.succeeded:
        fail(Exit.FAILED, f"the transaction {sent} failed", as_json=as_json)
    return sent


def _ask(question: str, chain: int | None, env_file: str | None, *, yes: bool, as_json: bool) -> None:
    """Ask before money moves; say on which chain, and whether its money is real."""
    settings = settings_or_fail(env_file, as_json=as_json)
    confirm(f"On {_money(settings, _chosen(settings, chain))}. {question}", yes=yes, as_json=as_json)


def _money(settings: Settings, chain_id: int) -> str:
    chain = known_chains(settings.chain_file).get(chain_id)
    return money_text(chain.name, chain_id, test_money=chain.test_money) if chain else known_money_text(chain_id)


def _chosen(settings: Settings, chain: int | None) -> int:
    return settings.sponsor_chains[0] if chain is None else chain


def _wei(amount: str, *, as_json: bool) -> int:
    try:
        wei = Decimal(amount) * _WEI
    except ArithmeticError:  # no number, or one with too large an exponent
        wei = Decimal(0)
    if not wei.is_finite() or not 0 < wei < _WORDS or wei != int(wei):
        fail(Exit.USAGE, "an amount of ETH such as 0.05 is needed", as_json=as_json)
    return int(wei)


def _run(work: Callable[[Sponsor], Awaitable[T]], chain: int | None, env_file: str | None, *, as_json: bool) -> T:
    """Do `work` with the sponsor of a chain. Errors become exit codes."""
    from holdfast.chain.errors import RpcError
    from holdfast.settings.rows import SettingError

    settings = settings_or_fail(env_file, as_json=as_json)
    if settings.sponsor_key is None:
        fail(Exit.CONFIGURATION, "HOLDFAST_SPONSOR_KEY is not set: holdfast keys new makes one", as_json=as_json)
    chain_id = _chosen(settings, chain)
    if chain_id not in settings.sponsor_chains:
        fail(Exit.NOT_FOUND, f"chain {chain_id} is not in HOLDFAST_SPONSOR_CHAINS", as_json=as_json)
    try:
        return asyncio.run(_with_sponsor(work, settings, chain_id, as_json=as_json))
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except RpcError as error:
        fail(Exit.UNAVAILABLE, f"the chain gives no usable answer: {error}", as_json=as_json)
    except TimeoutError:
        fail(Exit.FAILED, "the transaction was not seen mined: look at the address before a retry", as_json=as_json)


async def _with_sponsor(
    work: Callable[[Sponsor], Awaitable[T]], settings: Settings, chain_id: int, *, as_json: bool
) -> T:
    from holdfast.service.bootstrap.services import build_service

    secrets = secrets_or_fail(settings, as_json=as_json)
    service = build_service(settings, secrets, store_or_fail(settings, as_json=as_json))
    try:
        return await work(service.sponsors.sponsors[chain_id])
    finally:
        await service.stop()
