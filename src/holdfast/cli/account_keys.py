"""holdfast account owners and guardians: who owns the account, and who can recover it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.account_changes import change
from holdfast.cli.account_options import (
    AccountOptions,
    Also,
    ByAnyOwner,
    Paying,
    Signer,
    Yes,
    opened,
    signer_at,
    signer_named,
    with_options,
)
from holdfast.cli.client_vault import plain_errors
from holdfast.cli.output import emit

if TYPE_CHECKING:
    from holdfast.chain.account_messages import Change
    from holdfast.client.account.values import AccountView
    from holdfast.client.blocking.client import Client

_SETTINGS: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "no_args_is_help": True}
ServiceAlone = Annotated[
    bool,
    typer.Option(
        "--service-alone",
        help="Agree that the service alone, or someone who reads your mail, can give the account new owners.",
    ),
]
owners = typer.Typer(**_SETTINGS, help="Keys that own the account.")
guardians = typer.Typer(**_SETTINGS, help="Keys that together can give the account new owners.")


@owners.command("list")
@with_options
def list_owners(*, options: AccountOptions) -> None:
    """List the account's owners, oldest first, and how many of them must sign."""
    with opened(options) as client:
        view = client.account_view()
    emit(_owners_form(view), "\n".join(_owner_lines(view)), as_json=options.as_json)


@owners.command("add")
@with_options
def add_owner(
    signer: Signer,
    until: Annotated[int, typer.Option(min=0, metavar="TIME", help="Unix time at which it ends; 0: never.")] = 0,
    also: Also = None,
    yes: Yes = False,
    *,
    options: ByAnyOwner,
) -> None:
    """Make a key an owner, on every chain by one signature. It can do everything that the vault's key can."""
    from holdfast.chain.account_messages import Change, ChangeKind

    with plain_errors(as_json=options.as_json):
        changes = [Change(ChangeKind.ADD_OWNER, signer_named(signer), until)]
        change(options, changes, f"make {signer} an owner of the", also or (), yes=yes)


@owners.command("remove")
@with_options
def remove_owner(
    signer: Signer,
    also: Also = None,
    yes: Yes = False,
    *,
    options: ByAnyOwner,
) -> None:
    """Revoke a key, such as a lost device's, on every chain by one signature.

    If it is the primary key, the oldest other P-256 owner becomes primary.
    """
    from holdfast.chain.account_messages import Change, ChangeKind

    with plain_errors(as_json=options.as_json):
        changes = [Change(ChangeKind.REMOVE_OWNER, signer_named(signer))]
        change(options, changes, f"remove {signer} from the owners of the", also or (), yes=yes)


@owners.command("require")
@with_options
def require(
    number: Annotated[int, typer.Argument(min=1, max=2, help="How many owners must sign.")],
    alone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN=AMOUNT",
            help="With 2: what the vault's key may pay alone, in the token's smallest unit; repeatable.",
        ),
    ] = None,
    period: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="For each period; 0: in all.")] = 86400,
    also: Also = None,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Require two owners for payments and for changes of the account, or one; on every chain by one change.

    What the vault's key may pay alone holds on this service's chain, and needs a sponsor.
    """
    from holdfast.chain.account_messages import Change, ChangeKind

    with plain_errors(as_json=options.as_json):
        terms = [_alone(each, period) for each in alone or ()]
        if terms and number == 1:
            raise ValueError("--alone: one owner may pay everything anyway")
        changes = [Change(ChangeKind.SET_THRESHOLD, value=number)]
        question = f"require {number} owners for payments and changes of the" if number > 1 else "let one owner use the"
        change(options, changes, question, also or (), yes=yes, first=lambda client: client.allow_alone(terms))


@guardians.command("list")
@with_options
def list_guardians(*, options: AccountOptions) -> None:
    """List the account's guardians, how many of them must sign, and how long a recovery takes."""
    with opened(options) as client:
        view = client.account_view()
    emit(_guardians_form(view), "\n".join(_guardian_lines(view)), as_json=options.as_json)


@guardians.command("add")
@with_options
def add_guardian(
    signer: Signer,
    quorum: Annotated[int | None, typer.Option(min=0, max=32, help="How many guardians must sign.")] = None,
    delay: Annotated[
        int | None, typer.Option(min=3600, max=90 * 86400, metavar="SECONDS", help="How long a recovery takes.")
    ] = None,
    also: Also = None,
    service_alone: ServiceAlone = False,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Make a key a guardian, on every chain by one signature; SIGNER `service` is the service itself.

    As many guardians as must sign can give the account new owners after the delay (three days unless set), unless an
    owner cancels. No recovery is possible before --quorum was given once.
    """
    from holdfast.chain.account_messages import Change, ChangeKind

    def changes(client: Client) -> list[Change]:
        return [Change(ChangeKind.ADD_GUARDIAN, signer_at(client, signer)), *_terms(quorum, delay)]

    with plain_errors(as_json=options.as_json):
        if signer != "service":
            signer_named(signer)
        question = f"make {signer} a guardian of the"
        change(options, changes, question, also or (), yes=yes, service_alone=service_alone)


@guardians.command("remove")
@with_options
def remove_guardian(
    signer: Signer,
    quorum: Annotated[int | None, typer.Option(min=0, max=32, help="How many guardians must sign.")] = None,
    also: Also = None,
    service_alone: ServiceAlone = False,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Remove a guardian. Give a lower --quorum if fewer guardians would remain than must sign."""
    from holdfast.chain.account_messages import Change, ChangeKind

    def changes(client: Client) -> list[Change]:
        return [*_terms(quorum, None), Change(ChangeKind.REMOVE_GUARDIAN, signer_at(client, signer))]

    with plain_errors(as_json=options.as_json):
        if signer != "service":
            signer_named(signer)
        question = f"remove {signer} from the guardians of the"
        change(options, changes, question, also or (), yes=yes, service_alone=service_alone)


def _alone(text: str, period: int) -> tuple[str, int, int]:
    """Return token, amount and period of an option. Raises ValueError."""
    token, _, amount = text.partition("=")
    if not amount.isascii() or not amount.isdigit() or int(amount) == 0:
        raise ValueError("--alone: TOKEN=AMOUNT, with a positive whole number in the token's smallest unit")
    return token, int(amount), period


def _terms(quorum: int | None, delay: int | None) -> list[Change]:
    from holdfast.chain.account_messages import Change, ChangeKind

    given = ((ChangeKind.SET_QUORUM, quorum), (ChangeKind.SET_DELAY, delay))
    return [Change(kind, value=value) for kind, value in given if value is not None]


def _owners_form(view: AccountView) -> dict[str, Any]:
    from holdfast.client.account.values import signer_text

    rows = [
        {"signer": signer_text(owner.signer), "until": owner.expiry, "primary": owner.is_primary}
        for owner in view.owners
    ]
    of = {"account": view.address, "chainId": view.chain_id, "deployed": view.deployed}
    return {**of, "owners": rows, "threshold": view.settings.threshold}


def _owner_lines(view: AccountView) -> list[str]:
    from holdfast.client.account.values import signer_text

    words = {True: " (primary)", False: ""}
    lines = [
        f"{signer_text(owner.signer)}{words[owner.is_primary]}{f' until {owner.expiry}' if owner.expiry else ''}"
        for owner in view.owners
    ]
    return [*lines, f"{view.settings.threshold} must sign"]


def _guardians_form(view: AccountView) -> dict[str, Any]:
    from holdfast.client.account.values import signer_text

    terms = {"quorum": view.settings.quorum, "delaySeconds": view.settings.delay}
    signers = [signer_text(signer) for signer in view.guardians]
    return {"account": view.address, "chainId": view.chain_id, "guardians": signers, **terms}


def _guardian_lines(view: AccountView) -> list[str]:
    from holdfast.client.account.values import signer_text

    quorum, delay = view.settings.quorum, view.settings.delay
    terms = f"{quorum} must sign; a recovery takes {delay} seconds" if quorum else "no recovery is possible"
    return [*(signer_text(signer) for signer in view.guardians), terms]
