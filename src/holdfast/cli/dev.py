"""holdfast dev: the service together with a complete local chain, all on this machine."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail
from holdfast.rules.chains import DEFAULT_CHAIN_ID
from holdfast.wire.installing import install_command

if TYPE_CHECKING:
    from holdfast.world.development import DevelopmentOptions
    from holdfast.world.facts import Facts

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HARDFORKS = ("cancun", "prague", "osaka")  # the contracts are compiled for the first


def _port(whose: str) -> Any:
    return typer.Option(min=0, max=65535, help=f"Port of {whose}; 0 picks one.")


@app.command()
def dev(  # noqa: PLR0913 - each is an option of the command
    *,
    state: Annotated[Path | None, typer.Option(help="Keep chain and registrations in this folder.")] = None,
    port: Annotated[int, _port("the service")] = 8787,
    rpc_port: Annotated[int, _port("the chain")] = 8545,
    bundler_port: Annotated[int, _port("bundler and sponsor")] = 4337,
    hardfork: Annotated[str, typer.Option(help="The chain's rules: osaka has the P-256 precompile.")] = "osaka",
    chain_id: Annotated[
        int, typer.Option(min=1, max=2**53 - 1, help="The chain's ID. With a public chain's, use throw-away vaults.")
    ] = DEFAULT_CHAIN_ID,
    demo: Annotated[bool, typer.Option("--demo", help="Show one registration and one payment, then stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Speak JSON, one line each.")] = False,
) -> None:
    """Run the service with a local chain: contracts, bundler, sponsor and indexer are included, all on loopback.

    After the first installation, the command requires neither accounts nor internet access. E-mails and text messages
    are written to the outbox folder. Ctrl-C ends everything. With --demo, the exit code is 0 only if the chain's state
    shows the registration and the payment.
    """
    if hardfork not in HARDFORKS:
        fail(Exit.USAGE, f"--hardfork: {hardfork!r} is not one of {', '.join(HARDFORKS)}", as_json=as_json)
    if find_spec("eth_abi") is None:
        fail(Exit.CONFIGURATION, f"holdfast dev needs an extra: {install_command('world')}", as_json=as_json)
    from holdfast.world.development import DevelopmentOptions

    options = DevelopmentOptions(
        state=state,
        port=port,
        rpc_port=rpc_port,
        bundler_port=bundler_port,
        hardfork=hardfork,
        chain_id=chain_id,
    )
    _run(options, demo=demo, as_json=as_json)


def _run(options: DevelopmentOptions, *, demo: bool, as_json: bool) -> None:
    from holdfast.chain.errors import ChainError
    from holdfast.world.errors import NodeMissing, WorldError

    try:
        _show(options, as_json=as_json) if demo else _stay(options, as_json=as_json)
    except NodeMissing as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except (WorldError, ChainError, OSError) as error:
        fail(Exit.FAILED, str(error), as_json=as_json)


def _stay(options: DevelopmentOptions, *, as_json: bool) -> None:
    from holdfast.world.development import run_to_the_end, run_until_something_ends
    from holdfast.world.facts import table_of

    def ready(facts: Facts) -> None:
        _write(json.dumps(facts) if as_json else table_of(facts) + "Ctrl-C ends everything.")

    run_to_the_end(run_until_something_ends(options, _say, ready))


def _show(options: DevelopmentOptions, *, as_json: bool) -> None:
    from holdfast.world.development import demonstrate, findings_as_json, run_to_the_end

    findings = run_to_the_end(demonstrate(options, _say if as_json else _write))
    if findings is None:
        fail(Exit.FAILED, "stopped before the end", as_json=as_json)
    if as_json:
        _write(json.dumps(findings_as_json(findings)))
    if not findings.good:
        fail(Exit.FAILED, "the chain's own state does not show the registration and the payment", as_json=as_json)
    if not as_json:
        _write("The chain's own state agrees: the DID is the account's, the alias is the DID's, the payee was paid.")


def _say(line: str) -> None:
    """Print progress, separate from results."""
    sys.stderr.write(f"holdfast: {line}\n")
    sys.stderr.flush()


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
