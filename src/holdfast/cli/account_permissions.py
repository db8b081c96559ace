"""holdfast account permissions: what other keys may spend from the account, on one chain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.account_options import AccountOptions, Paying, Signer, Yes, opened, signer_named, with_options
from holdfast.cli.addresses import check_typing
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, emit_done, fail, require_answer

if TYPE_CHECKING:
    from holdfast.chain.account_reads import Granted

_ID = re.compile("0x[0-9a-fA-F]{64}")
permissions = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="What other keys may spend."
)


@permissions.command("list")
@with_options
def list_permissions(*, options: AccountOptions) -> None:
    """List the permissions, with what was spent in this period."""
    with opened(options) as client:
        found = [_form(granted) for granted in client.account_permissions()]
        money = client.money_on(client.status().chain_id)
    lines = [_line(row) for row in found]
    emit({"permissions": found}, "\n".join([f"on {money}", *(lines or ["no permissions"])]), as_json=options.as_json)


@permissions.command()
@with_options
def add(  # noqa: PLR0913 - each is an option of the command
    signer: Signer,
    token: Annotated[str, typer.Argument(help='An ERC-20 address, or "native".')],
    allowance: Annotated[int, typer.Argument(min=1, help="The most in one period, in the token's smallest unit.")],
    period: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="0: all the time is one period.")] = 0,
    until: Annotated[int, typer.Option(min=0, metavar="TIME", help="Unix time at which it ends; 0: never.")] = 0,
    to: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The only receiver.")] = None,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Let an app's key spend one token within a limit that the account itself enforces on this chain.

    Prints the delegation to the app's DID, which the app needs.
    """
    from holdfast.chain.signers import key_id
    from holdfast.client.account.spending import SpendingTerms

    with common.plain_errors(as_json=options.as_json):
        check_typing(token, "token")
        check_typing(to or "", "--to")
    require_answer(yes=yes, as_json=options.as_json)
    with opened(options) as client:
        terms = SpendingTerms(
            to=f"did:new:0x{key_id(signer_named(signer)).hex()}",
            token=token,
            allowance=allowance,
            period=period,
            until=until,
            payee=to,
        )
        where = f"{client.smart_account_address()} on {client.money_on(client.status().chain_id)}"
        confirm(f"let {signer} spend {allowance} ({token}) from {where}?", yes=yes, as_json=options.as_json)
        made = client.allow_spending(terms, on_progress=common.say)
    form = {"id": f"0x{made.permission.id.hex()}", "to": terms.to, "cid": made.cid, "token": made.container}
    emit_done(form, f"granted {form['id']} to {terms.to}\n{made.container}", as_json=options.as_json)


@permissions.command()
@with_options
def remove(
    permission: Annotated[str, typer.Argument(metavar="ID", help="As `list` prints it.")], *, options: Paying
) -> None:
    """End a permission and its delegation. Exits with 5 if the chain has no such permission."""
    from holdfast.wire.encoding import from_hex

    if not _ID.fullmatch(permission):
        fail(Exit.USAGE, "ID: 0x and 64 hex digits, as `list` prints it", as_json=options.as_json)
    with opened(options) as client:
        if client.end_spending(from_hex(permission), on_progress=common.say) is None:
            fail(Exit.NOT_FOUND, f"no such permission: {permission}", as_json=options.as_json)
    emit_done({"revoked": permission}, f"revoked {permission}", as_json=options.as_json)


def _line(row: dict[str, Any]) -> str:
    """Return a permission for people, with the receiver and the function that it is limited to."""
    line = f"{row['id']}: {row['spent']} of {row['allowance']} spent, {row['token']}"
    line += f", only to {row['target']}" if int(row["target"], 16) else ""
    return line + (f", by calls of its function {row['function']} too" if int(row["function"], 16) else "")


def _form(granted: Granted) -> dict[str, Any]:
    permission = granted.permission
    return {
        "id": f"0x{permission.id.hex()}",
        "keyId": f"0x{permission.key_id.hex()}",
        "token": permission.token,
        "allowance": str(permission.allowance),
        "spent": str(granted.spent),
        "left": str(granted.left),
        "period": permission.period,
        "start": permission.start,
        "until": permission.until,
        "target": permission.target,
        "function": f"0x{permission.function.hex()}",
    }
