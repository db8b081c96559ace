"""holdfast account did: the DID at the registry, changed by the account that controls it."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.account_options import AccountOptions, Paying, Yes, opened, with_options
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, emit_done, fail, require_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.blocking.client import Client

_CID = re.compile("|b[a-z2-7]{7,255}|(?:z|Qm)[1-9A-HJ-NP-Za-km-z]{7,254}")
did = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="The DID on the chain, and its aliases."
)
Did = Annotated[str | None, typer.Option("--did", help="Another DID that the account controls.")]
Alias = Annotated[str, typer.Argument(help="A handle.")]


@did.command()
@with_options
def show(name: Did = None, *, options: AccountOptions) -> None:
    """Show what the registry says about the DID."""
    with opened(options) as client:
        found = asdict(client.registered_did(name))
    emit(found, "\n".join(f"{key} {value}" for key, value in found.items()), as_json=options.as_json)


@did.command()
@with_options
def deactivate(name: Did = None, yes: Yes = False, *, options: Paying) -> None:
    """Deactivate the DID: no one resolves it, until `activate`. Aliases and account stay."""
    _sent(
        options,
        lambda it: it.set_did_active(name, active=False, on_progress=common.say),
        "deactivate the DID?",
        yes=yes,
    )


@did.command()
@with_options
def activate(name: Did = None, *, options: Paying) -> None:
    """Activate the DID again."""
    _sent(options, lambda it: it.set_did_active(name, active=True, on_progress=common.say))


@did.command()
@with_options
def metadata(
    cid: Annotated[str, typer.Argument(help='A CID, or "" for none.')], name: Did = None, *, options: Paying
) -> None:
    """Set the CID of the DID's metadata."""
    if not _CID.fullmatch(cid):
        fail(Exit.USAGE, "CID: b and base32, z and base58, or Qm and base58", as_json=options.as_json)
    _sent(options, lambda it: it.set_did_metadata(cid, name, on_progress=common.say))


@did.command("add-alias")
@with_options
def add_alias(alias: Alias, name: Did = None, *, options: Paying) -> None:
    """Give the DID one more alias on the chain. No service knows it until it is registered there."""
    _sent(options, lambda it: it.register_alias(alias, name, on_progress=common.say))


@did.command("deactivate-alias")
@with_options
def deactivate_alias(alias: Alias, yes: Yes = False, *, options: Paying) -> None:
    """Deactivate an alias, which stays taken."""
    _sent(
        options,
        lambda it: it.set_alias_active(alias, active=False, on_progress=common.say),
        f"deactivate {alias}?",
        yes=yes,
    )


@did.command("activate-alias")
@with_options
def activate_alias(alias: Alias, *, options: Paying) -> None:
    """Activate an alias again."""
    _sent(options, lambda it: it.set_alias_active(alias, active=True, on_progress=common.say))


@did.command("propose-controller")
@with_options
def propose_controller(
    address: Annotated[str, typer.Argument(help="The account that may accept.")],
    name: Did = None,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Let another account become the DID's controller. It then accepts with `accept`."""
    question = f"let {address} take over the DID?"
    _sent(options, lambda it: it.propose_controller(address, name, on_progress=common.say), question, yes=yes)


@did.command()
@with_options
def accept(name: Annotated[str, typer.Argument(metavar="DID")], *, options: Paying) -> None:
    """Become the controller of a DID that was proposed to the account."""
    _sent(options, lambda it: it.accept_controller(name, on_progress=common.say))


def _sent(options: Paying, send: Callable[[Client], str], question: str = "", *, yes: bool = True) -> None:
    if question:
        require_answer(yes=yes, as_json=options.as_json)
    with opened(options) as client:
        if question:
            confirm(question, yes=yes, as_json=options.as_json)
        operation = send(client)
    emit_done({"userOpHash": operation}, f"done: operation {operation}", as_json=options.as_json)
