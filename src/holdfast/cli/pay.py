"""holdfast pay."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.addresses import check_typing
from holdfast.cli.client_vault import (
    DEFAULT_SERVICE,
    Account,
    AsJson,
    Folder,
    ForeignContracts,
    Key,
    PaymasterUrl,
    RpcUrl,
    Service,
    ValShare,
    gas_policy,
)
from holdfast.cli.output import confirm, emit_done, fail, note, require_answer
from holdfast.cli.payments import UNCONFIRMED, share
from holdfast.cli.second_keys import SecondFile, SecondPasskey, SecondVault, second_key

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client
    from holdfast.client.types import PaymentParams, PaymentResult

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def pay(  # noqa: PLR0913, PLR0917 - each is an option of the command
    to: Annotated[str, typer.Argument(help="An address or a DID.")],
    amount: Annotated[str, typer.Argument(help="In the token's smallest unit.")],
    token: Annotated[str, typer.Option(help='An ERC-20 address, or "native", the coin.')] = "native",  # noqa: S107 - a currency
    chain: Annotated[int | None, typer.Option(help="The chain's ID; the service's main chain unless given.")] = None,
    ucan: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="A delegation (UCAN) that allows the payment.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    paymaster: PaymasterUrl = None,
    rpc: RpcUrl = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    val_share: ValShare = None,
    account: Account = None,
    second_vault: SecondVault = None,
    second_passkey: SecondPasskey = None,
    second_file: SecondFile = None,
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Pay from the vault's smart account, and wait until the payment is mined."""
    from holdfast.client.types import PaymentParams

    with common.plain_errors(as_json=as_json):
        check_typing(to, "to")
        check_typing(token, "token")
    require_answer(yes=yes, as_json=as_json)
    with (
        common.plain_errors(as_json=as_json),
        common.opened_vault(folder, key, service, val_share) as vault,
        second_key(second_vault, second_passkey, second_file, service, as_json=as_json) as second,
    ):
        more = {"account": account, "foreign_contracts": foreign, "second_key": second}
        with client_snapshots.client_of(vault, service, gas=gas_policy(paymaster, rpc), **more) as client:
            chain = chain or client.contracts().chain_id
            params = PaymentParams(to=to, amount=amount, token=token, chain_id=chain, ucan=ucan, label=label)
            result = _confirmed(client, params, yes=yes, as_json=as_json)
            share(client)
            transaction = _transaction(client, result)
        lines = (f"paid: {result.tx_hash}", f"transaction: {transaction}" if transaction else "", result.explorer_url)
        emit_done({**result.to_json(), "transactionHash": transaction}, "\n".join(filter(None, lines)), as_json=as_json)


def _confirmed(client: Client, params: PaymentParams, *, yes: bool, as_json: bool) -> PaymentResult:
    """Ask the person, then pay the address that was shown, whatever the DID's account is by now."""
    from holdfast.chain.errors import NoReceipt
    from holdfast.client.flows.failures import OperationFailed
    from holdfast.wire.client_errors import NetworkError

    to, payee = params.to, client.payee_address(params.to)
    shown, where = to if payee == to else f"{payee} ({to})", client.money_on(params.chain_id)
    confirm(f"pay {params.amount} ({params.token}) to {shown} on {where}?", yes=yes, as_json=as_json)
    steps: list[str] = []

    def tell(step: str) -> None:
        steps.append(step)
        common.say(step)

    try:
        return client.pay(msgspec.structs.replace(params, to=payee), called=to, on_progress=tell)
    except OperationFailed as error:
        if isinstance(error.__cause__, NoReceipt):
            raise OperationFailed(f"{error}: {UNCONFIRMED}") from error
        raise
    except KeyboardInterrupt:
        if "signed" in steps:
            note(UNCONFIRMED, as_json=as_json)
        raise
    except NetworkError as error:
        if "signed" in steps:  # so the bundler may have it
            fail(common.exit_of(error), f"{error}: {UNCONFIRMED}", as_json=as_json)
        raise


def _transaction(client: Client, paid: PaymentResult) -> str | None:
    """Return the payment's transaction.

    Failing to read the transaction is not an error, because the payment has been made.
    """
    from holdfast.wire.client_errors import NetworkError

    with suppress(NetworkError):
        receipt = client.user_operation_receipt(paid.user_op_hash, chain_id=paid.chain)
        return receipt.transaction_hash if receipt else None
    return None
