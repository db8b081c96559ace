"""`holdfast contracts deploy` and `holdfast contracts verify`."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from holdfast.chain.contracts import DEVELOPMENT, PRODUCTION
from holdfast.chain.errors import RpcError
from holdfast.cli.contracts_report import findings_text, findings_value, plan_text, plan_value
from holdfast.cli.exits import Exit
from holdfast.cli.key_file import read_key
from holdfast.cli.output import emit, fail, require_answer
from holdfast.wire.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.contracts.deployment import Plan
    from holdfast.chain.rpc import RpcClient

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Rpc = Annotated[str, typer.Option("--rpc", metavar="URL", help="JSON-RPC address of the chain.")]
KeyFile = Annotated[Path, typer.Option("--key-file", metavar="FILE", help="Hex private key that pays; mode 0600.")]
Yes = Annotated[bool, typer.Option("--yes", help="Send without asking.")]
Json = Annotated[bool, typer.Option("--json", help="JSON; without --yes it only plans.")]
ChainId = Annotated[
    int | None,
    typer.Option(
        "--chain-id", metavar="ID", min=1, help="The expected chain; refuse any other before anything is sent."
    ),
]
Dev = Annotated[bool, typer.Option("--dev", help="Also DevUSDC and VerifyingPaymaster; local chains only.")]

T = TypeVar("T")


@app.callback(help="The contracts on a chain: deploy what is missing, or check what is there.")
def _group() -> None:
    """Group of both commands."""


@app.command(help="Deploy missing contracts: show the plan and its cost, ask, send, and verify the code.")
def deploy(
    rpc: Rpc,
    key_file: KeyFile,
    chain_id: ChainId = None,
    yes: Yes = False,
    dev: Dev = False,
    as_json: Json = False,
) -> None:
    """Plan the deployment, ask for confirmation, send the transactions, and check the result."""
    _require_extras(as_json=as_json)
    key = read_key(key_file, as_json=as_json)
    names = PRODUCTION + DEVELOPMENT if dev else PRODUCTION
    plan = _on_chain(rpc, lambda client: _prepare(client, rpc, key, names, chain_id), as_json=as_json)
    if not as_json:
        emit(None, plan_text(plan), as_json=False)
    if plan.steps and _may_send(yes=yes, as_json=as_json):
        sent = _on_chain(rpc, lambda client: _carry_out(client, plan, key, as_json=as_json), as_json=as_json)
    else:
        sent = {}
    _report(plan, sent, as_json=as_json)


@app.command(
    help="Tell whether the chain carries exactly our code and every entry point that accounts obey: exit 0 for yes, "
    "1 for no."
)
def verify(rpc: Rpc, dev: Dev = False, as_json: Json = False) -> None:
    """Compare the deployed code with ours, byte for byte.

    The entry points are not ours, so the command only checks that they are deployed.
    """
    _require_extras(as_json=as_json)
    names = PRODUCTION + DEVELOPMENT if dev else PRODUCTION
    value = _on_chain(rpc, lambda client: _inspect(client, names), as_json=as_json)
    emit(value, findings_text(value), as_json=as_json)
    if not value["exact"] or not all(value["entryPoints"].values()):
        raise SystemExit(int(Exit.FAILED))


def _require_extras(*, as_json: bool) -> None:
    for module in ("httpx2", "eth_keys"):
        if find_spec(module) is None:
            fail(Exit.CONFIGURATION, f"holdfast contracts needs {module}: {install_command('world')}", as_json=as_json)


async def _prepare(client: RpcClient, url: str, key: PrivateKey, names: tuple[str, ...], chain_id: int | None) -> Plan:
    from holdfast.chain.contracts.deployment import make_plan
    from holdfast.chain.contracts.public_keys import PUBLIC_ADDRESSES

    sender = key.public_key.to_checksum_address()
    if not set(names).isdisjoint(DEVELOPMENT):
        await _require_local(client, url, "DevUSDC and VerifyingPaymaster are for development chains")
    if sender in PUBLIC_ADDRESSES:
        await _require_local(client, url, "the key in the key file is a public development key: use another")
    return await make_plan(client, sender, names, chain_id)


async def _require_local(client: RpcClient, url: str, why: str) -> None:
    from holdfast.world.accounts import unlock
    from holdfast.world.errors import NotALocalChain

    try:
        await unlock(client, url)
    except NotALocalChain as error:
        raise NotALocalChain(f"{why}; {error}") from None


async def _carry_out(client: RpcClient, plan: Plan, key: PrivateKey, *, as_json: bool) -> dict[str, str]:
    from holdfast.chain.contracts.deployment import carry_out

    sent: dict[str, str] = {}

    def report(name: str, transaction: str) -> None:
        sent[name] = transaction
        if not as_json:
            emit(None, f"deployed {name}  {transaction}", as_json=False)

    await carry_out(client, plan, key, report)
    return sent


async def _inspect(client: RpcClient, names: tuple[str, ...]) -> dict[str, Any]:
    from holdfast.chain.contracts.verification import entry_points_present, inspect

    chain_id = client.chain_id()
    return findings_value(*await asyncio.gather(chain_id, inspect(client, names), entry_points_present(client)))


def _on_chain(url: str, question: Callable[[RpcClient], Awaitable[T]], *, as_json: bool) -> T:
    """Run `work` with a client for the chain. An error from the chain becomes an exit code and a one-line message."""
    from holdfast.chain.contracts.deployment import AnotherChain, DeploymentError
    from holdfast.world.errors import NotALocalChain

    try:
        return asyncio.run(_with_client(url, question))
    except RpcError as error:
        fail(Exit.UNAVAILABLE, f"the chain gives no usable answer: {error}", as_json=as_json)
    except NotALocalChain as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except AnotherChain as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except DeploymentError as error:
        fail(Exit.FAILED, str(error), as_json=as_json)


async def _with_client(url: str, question: Callable[[RpcClient], Awaitable[T]]) -> T:
    import httpx2  # part of the extras `client` and `world`

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import Httpx2Transport

    async with httpx2.AsyncClient(timeout=30) as http:
        return await question(RpcClient(url, Httpx2Transport(http), timeout_s=30))


def _may_send(*, yes: bool, as_json: bool) -> bool:
    if yes or as_json:
        return yes
    require_answer(yes=yes, as_json=as_json)
    return typer.confirm("Send these transactions?")


def _report(plan: Plan, sent: dict[str, str], *, as_json: bool) -> None:
    done = not plan.steps or len(sent) == len(plan.steps)
    text = "All contracts are deployed, with exactly our code." if done else "Nothing was sent."
    emit({**plan_value(plan), "transactions": sent, "done": done}, text, as_json=as_json)
