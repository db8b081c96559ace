"""Signs changes of an account once, and brings them to one chain after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.cli import client_vault as common
from holdfast.cli.account_options import AccountOptions, client_of, opened
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail, require_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.chain.account_calls import SignedChanges
    from holdfast.chain.account_messages import Change
    from holdfast.chain.account_reads import Created
    from holdfast.client.blocking.client import Client


def change(
    options: AccountOptions,
    changes: Sequence[Change] | Callable[[Client], Sequence[Change]],
    question: str,
    also: Sequence[str],
    *,
    yes: bool,
    service_alone: bool = False,
    first: Callable[[Client], object] = lambda _client: None,
) -> None:
    """Ask, sign the changes once, and bring them to the chains of all services. `changes` may depend on the client.

    `first` is called before they are signed.
    """
    require_answer(yes=yes, as_json=options.as_json)
    with opened(options) as client:
        made = changes(client) if callable(changes) else changes
        view = client.account_view()
        confirm(f"{question} account {view.address}?", yes=yes, as_json=options.as_json)
        first(client)
        signed = client.sign_account_changes(made, service_alone=service_alone)
        rows = _brought(options, client, [signed], None, [options.service])
        rows += [] if rows[0]["error"] else _others(options, client, also)
        _report(options, view.address, rows)


def bring(options: AccountOptions, also: Sequence[str]) -> None:
    """Bring all changes that this service's chain has to the chains of the others."""
    with opened(options) as client:
        _report(options, client.smart_account_address(), _others(options, client, also))


def _others(options: AccountOptions, client: Client, also: Sequence[str]) -> list[dict[str, Any]]:
    if not also:
        return []
    return _brought(options, client, client.account_history(), client.account_origin(), also)


def _brought(
    options: AccountOptions,
    client: Client,
    signed: Sequence[SignedChanges],
    origin: Created | None,
    services: Sequence[str],
) -> list[dict[str, Any]]:
    """Return, for each service, how many changes were new on its chain, or why they are not there."""
    from holdfast.wire.client_errors import ServiceError

    rows: list[dict[str, Any]] = []
    for service in services:
        row: dict[str, Any] = {"service": service, "chainId": None, "applied": 0, "error": None}
        try:
            with client_of(options, client.vault, service, client.second_key) as there:
                done = there.bring_account_changes(signed, origin=origin)
                row |= {"chainId": done.chain_id, "applied": done.applied}
        except ServiceError as error:
            row["error"] = str(error)
        common.say(_line(row))
        rows.append(row)
    return rows


def _report(options: AccountOptions, address: str, rows: list[dict[str, Any]]) -> None:
    emit({"account": address, "chains": rows}, f"account {address}", as_json=options.as_json)
    left = [row["service"] for row in rows if row["error"]]
    if left:
        again = (
            "repeat the command"
            if options.service in left
            else "`holdfast account bring --also URL` brings what is left"
        )
        fail(Exit.FAILED, f"not there yet: {', '.join(left)}; {again}", as_json=options.as_json)


def _line(row: dict[str, Any]) -> str:
    if row["error"]:
        return f"{row['service']}: {row['error']}"
    done = f"{row['applied']} brought" if row["applied"] else "was there already"
    return f"{row['service']}: chain {row['chainId']}: {done}"
