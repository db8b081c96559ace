"""holdfast payments."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service, ValShare
from holdfast.cli.output import emit

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client
    from holdfast.client.snapshots.payment_notes import PaymentNote

AGAIN = "The same `holdfast pay` again replaces it at a higher fee: only one of the two can be made."
UNCONFIRMED = f"the payment is not confirmed yet. {AGAIN}"
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def payments(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    val_share: ValShare = None,
    as_json: AsJson = False,
) -> None:
    """List the payments that this vault's devices made, with what each was for."""
    with (
        common.plain_errors(as_json=as_json),
        common.opened_vault(folder, key, service, val_share) as vault,
        client_snapshots.client_of(vault, service) as client,
    ):
        found = client.payments()
    lines = [line_of(note) for note in reversed(found)] or ["no payments"]
    if any(note.state == "sent" for note in found):
        lines.append(f"(sent): not confirmed. {AGAIN}")
    emit({"payments": [note.to_json() for note in found]}, "\n".join(lines), as_json=as_json)


def line_of(note: PaymentNote) -> str:
    """Return a payment for people."""
    about = " · ".join(filter(None, (note.shop, note.label)))
    state = "" if note.state == "confirmed" else f" ({note.state})"
    return f"{note.time}  {note.amount} {note.symbol} to {note.to}{f': {about}' if about else ''}{state}"


def share(client: Client) -> None:
    """Give the vault's other devices what was noted here, if the service accepts it; otherwise the next time."""
    from holdfast.wire.client_errors import ServiceError

    with suppress(ServiceError):
        client.payments()
