"""Signs changes of an account once, and brings them to one chain after the other."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from holdfast.cli import client_vault as common
from holdfast.cli.account_options import AccountOptions, ByAnyOwner, client_of, opened
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail, require_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.chain.account_calls import SignedChanges
    from holdfast.chain.account_messages import Change
    from holdfast.chain.account_reads import Created
    from holdfast.client.account.values import AccountView
    from holdfast.client.blocking.client import Client
    from holdfast.client.flows.second_key import SecondKey

    Target = tuple[str, int | None]  # a service, and one of its chains: None for the main one


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
    """Ask, sign the changes once, and bring them to every chain of `_targets`. `changes` may depend on the client.

    `first` is called before they are signed.
    """
    require_answer(yes=yes, as_json=options.as_json)
    with opened(options) as client:
        made = changes(client) if callable(changes) else changes
        view = client.account_view()
        targets = _targets(options, client, also)  # before anything is done, because the service may not answer
        confirm(f"{question} account {view.address}?", yes=yes, as_json=options.as_json)
        first(client)
        signed = client.sign_account_changes(made, owner=_owner(options, client, view), service_alone=service_alone)
        rows = _brought(options, client, [signed], None, [(options.service, None)])
        rows += [] if rows[0]["error"] else _others(options, client, targets, [signed])
        _report(options, view.address, rows)


def _owner(options: AccountOptions, client: Client, view: AccountView) -> SecondKey | None:
    """Return the passkey that signs, or None if the vault does."""
    from holdfast.client.account.second_keys import passkey_among
    from holdfast.client.flows.failures import OperationFailed

    if not isinstance(options, ByAnyOwner) or not options.owner_passkey:
        return None
    found = passkey_among(view.owners, common.passkey_sources(options.service, client.vault.store))
    if found is None:
        raise OperationFailed(f"no passkey on this security key is now an owner of the account {view.address}")
    return found


def bring(options: AccountOptions, also: Sequence[str]) -> None:
    """Bring all changes that this service's main chain has to every chain of `_targets`."""
    with opened(options) as client:
        targets = _targets(options, client, also)
        if not targets:
            fail(Exit.USAGE, "the service has one chain: name other services with --also", as_json=options.as_json)
        _report(options, client.smart_account_address(), _others(options, client, targets))


def _targets(options: AccountOptions, client: Client, also: Sequence[str]) -> list[Target]:
    """Return the other chains of `--service` on which it pays, and the main chains of the services in `also`."""
    from holdfast.client.http.refusals import RequestRefused

    chains: list[Target] = []
    try:
        others = [chain for chain in client.chains().chains if chain.payments and not chain.main]
        chains = [(options.service, chain.chain_id) for chain in others]
    except RequestRefused as error:
        if error.status != HTTPStatus.NOT_FOUND:  # an older service has one chain
            raise
    return [*chains, *((service, None) for service in also)]


def _others(
    options: AccountOptions, client: Client, targets: Sequence[Target], signed: Sequence[SignedChanges] = ()
) -> list[dict[str, Any]]:
    """Bring what was signed here, which an endpoint may hide, and the main chain's history."""
    from holdfast.wire.client_errors import ServiceError

    if not targets:
        return []
    try:
        history, origin = client.account_history(), client.account_origin()
    except ServiceError as error:
        if not signed:
            raise
        rows = [_row(target, common.words_of(error)) for target in targets]  # the main chain's is reported too
        common.say("\n".join(map(_line, rows)))
        return rows
    return _brought(options, client, [*signed, *history], origin, targets)


def _row(target: Target, error: str | None = None) -> dict[str, Any]:
    return {"service": target[0], "chainId": target[1], "applied": 0, "error": error}


def _brought(
    options: AccountOptions,
    client: Client,
    signed: Sequence[SignedChanges],
    origin: Created | None,
    targets: Sequence[Target],
) -> list[dict[str, Any]]:
    """Return, for each chain, how many changes were new there, or why they are not there."""
    from holdfast.wire.client_errors import ServiceError

    rows: list[dict[str, Any]] = []
    for service, chain_id in targets:
        row = _row((service, chain_id))
        try:
            with client_of(options, client.vault, service, client.second_key) as there:
                done = there.bring_account_changes(signed, origin=origin, chain_id=chain_id)
                row |= {"chainId": done.chain_id, "applied": done.applied}
        except ServiceError as error:
            row["error"] = common.words_of(error)
        common.say(_line(row))
        rows.append(row)
    return rows


def _report(options: AccountOptions, address: str, rows: list[dict[str, Any]]) -> None:
    emit({"account": address, "chains": rows}, f"account {address}", as_json=options.as_json)
    left = [row for row in rows if row["error"]]
    if left:
        names = ", ".join(row["service"] + (f" chain {row['chainId']}" if row["chainId"] else "") for row in left)
        again = (
            "see to the reason above, then repeat the command"
            if rows[0]["error"]
            else "`holdfast account bring` brings what is left"
        )
        fail(Exit.FAILED, f"not there yet: {names}; {again}", as_json=options.as_json)


def _line(row: dict[str, Any]) -> str:
    if row["error"]:
        return f"{row['service']}: {row['error']}"
    done = f"{row['applied']} brought" if row["applied"] else "was there already"
    return f"{row['service']}: chain {row['chainId']}: {done}"
