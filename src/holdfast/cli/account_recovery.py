"""holdfast account recover: guardians give an account new owners, after a delay in which any owner can cancel."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.account_options import AccountOptions, Paying, Yes, opened, signer_named, with_options
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, emit_done, fail, require_answer

if TYPE_CHECKING:
    from holdfast.chain.account_reads import Recovery
    from holdfast.client.blocking.client import Client

_SIGNATURE = re.compile("0x([0-9a-f]{2})+:0x([0-9a-f]{2})+")
recover = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Give the account new owners, by guardians."
)
Chain = Annotated[
    int | None, typer.Option("--chain", metavar="ID", help="Another chain of the service than its main chain.")
]
NewOwners = Annotated[list[str], typer.Argument(metavar="SIGNER...", help="The new owners; all others end.")]


@recover.command("list")
@with_options
def show(chain: Chain = None, *, options: AccountOptions) -> None:
    """Show the recovery that is under way. Exits with 5 if none is."""
    with opened(options) as client:
        recovery = _running(client, chain, options)
    form = _form(recovery)
    lines = (f"can be finished at {form['readyAt']}", f"guardians: {form['supporters']}", *(form["newOwners"] or ()))
    emit(form, "\n".join(lines), as_json=options.as_json)


@recover.command()
@with_options
def sign(
    new_owners: NewOwners,
    by_service: Annotated[bool, typer.Option("--by-service", help="Let the service sign, as a guardian.")] = False,
    *,
    options: AccountOptions,
) -> None:
    """Sign new owners as a guardian, without starting the recovery. Prints what `start --with` takes."""
    with opened(options) as client:
        by = client.service_recovery_signature if by_service else client.sign_account_recovery
        signer, signature = by([signer_named(text) for text in new_owners])
    text = f"0x{signer.hex()}:0x{signature.hex()}"
    emit({"signature": text}, text, as_json=options.as_json)


@recover.command()
@with_options
def ask(
    new_owners: NewOwners,
    to: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="An address or number of the account's DID.")],
    *,
    options: AccountOptions,
) -> None:
    """Ask the service to sign new owners as a guardian. It sends a code, which `check` takes with what this prints."""
    with opened(options) as client:
        channel = "email" if "@" in to else "sms"
        request = client.ask_service_recovery([signer_named(text) for text in new_owners], to, channel)
    emit({"request": request}, request, as_json=options.as_json)


@recover.command()
@with_options
def check(
    request: Annotated[str, typer.Argument(help="What `ask` printed.")],
    code: Annotated[str, typer.Argument(help="The code that the service sent.")],
    *,
    options: AccountOptions,
) -> None:
    """Enter the service's code. It signs after its waiting time: `sign --by-service`."""
    with opened(options) as client:
        found = client.check_recovery(request=request, code=code)
    if not found.verified:
        fail(Exit.FAILED, found.message or "the code is incorrect", as_json=options.as_json)
    emit({"readyAt": found.ready_at}, f"the service signs from {found.ready_at} on", as_json=options.as_json)


@recover.command()
@with_options
def start(
    new_owners: NewOwners,
    given: Annotated[
        list[str] | None, typer.Option("--with", metavar="SIGNATURE", help="Another guardian's; repeatable.")
    ] = None,
    given_only: Annotated[bool, typer.Option("--given-only", help="Bring only the signatures of --with.")] = False,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Start a recovery as a guardian, with the signatures of the others if more must sign."""
    from holdfast.wire.client_errors import ServiceError

    require_answer(yes=yes, as_json=options.as_json)
    ready = None
    with opened(options) as client:
        owners = [signer_named(text) for text in new_owners]
        others = [_signature(text) for text in given or ()]
        confirm(f"start a recovery of {client.smart_account_address()}?", yes=yes, as_json=options.as_json)
        own = [] if given_only else [client.sign_account_recovery(owners)]
        done = client.start_account_recovery(owners, [*own, *others], on_progress=common.say)
        with suppress(ServiceError):  # it has started all the same
            recovery = client.account_view().recovery
            ready = recovery.ready_at if recovery else None
    text = f"started: can be finished at {ready}" if ready else "started"
    emit_done({"userOpHash": done, "readyAt": ready}, text, as_json=options.as_json)


@recover.command()
@with_options
def cancel(chain: Chain = None, *, options: Paying) -> None:
    """Cancel the recovery that is under way, as any owner. To be rid of a guardian who started it, remove it first.

    What guardians signed counts on every chain: look at the others with `list --chain`, or remove the guardians there.
    """
    with opened(options) as client:
        _running(client, chain, options)
        done = client.cancel_account_recovery(chain_id=chain, on_progress=common.say)
    emit_done({"userOpHash": done}, "cancelled", as_json=options.as_json)


@recover.command()
@with_options
def finish(*, options: Paying) -> None:
    """Finish the recovery after its delay: the new owners take the place of all others."""
    with opened(options) as client:
        _running(client, None, options)
        done = client.finish_account_recovery(on_progress=common.say)
    emit_done({"userOpHash": done}, "finished: the account has its new owners", as_json=options.as_json)


def _running(client: Client, chain: int | None, options: AccountOptions) -> Recovery:
    recovery = client.account_view(chain_id=chain).recovery
    if recovery is None:
        fail(Exit.NOT_FOUND, "no recovery of this account is under way on this chain", as_json=options.as_json)
    return recovery


def _form(recovery: Recovery) -> dict[str, Any]:
    from holdfast.client.account.values import signer_text

    owners = None if recovery.new_owners is None else [signer_text(signer) for signer in recovery.new_owners]
    return {"readyAt": recovery.ready_at, "supporters": recovery.supporters, "newOwners": owners}


def _signature(text: str) -> tuple[bytes, bytes]:
    from holdfast.wire.encoding import from_hex

    signer, _, signature = text.partition(":")
    if not _SIGNATURE.fullmatch(text):
        raise ValueError("--with: what `holdfast account recover sign` printed")
    return from_hex(signer), from_hex(signature)
