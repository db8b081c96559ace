"""holdfast vault exit: moves everything out of the vault's account without any service."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.chain.contracts.addresses import DID_REGISTRY, ENTRY_POINT_V07
from holdfast.cli import exit_steps
from holdfast.cli.client_vault import DEFAULT_SERVICE, Account, AsJson, Folder, Key, PaymasterUrl, Service, ValShare
from holdfast.cli.exit_opening import Source, opened, passkey_sources
from holdfast.cli.output import confirm, emit, emit_done, note, require_answer
from holdfast.cli.second_keys import SecondFile, SecondPasskey, SecondVault, second_key
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID

if TYPE_CHECKING:
    from holdfast.cli.exit_steps import FirstKey
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.leaving.moves import Destination
    from holdfast.client.leaving.plan import Plan
    from holdfast.client.leaving.reading import Named, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitRequest:
    """What the person asked for, checked."""

    account: str | None
    named: Named
    to: str | None
    did_to: str | None
    max_cost: int

    def destination(self, account: str) -> Destination:
        """Return where everything of the account goes. Raises ValueError."""
        from holdfast.client.leaving.moves import Destination

        if account in {self.to, self.did_to}:
            raise ValueError("the account itself cannot be the destination")
        named, to = self.named, self.to or ""
        return Destination(
            account=account, to=to, did_to=self.did_to, registry=named.registry, entry_point=named.entry_point
        )


def leave(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A snapshot (CAR) or an export; without it, the vault on this machine."),
    ] = None,
    rpc: Annotated[
        str | None, typer.Option(metavar="URL", envvar="HOLDFAST_CLIENT_RPC_URL", help="A node of the chain.")
    ] = None,
    chain: Annotated[int, typer.Option(help="The chain's ID; a node of another chain is refused.")] = DEFAULT_CHAIN_ID,
    to: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where everything goes.")] = None,
    token: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="An ERC-20 token in addition to USDC; repeatable.")
    ] = None,
    nft: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS:ID", help="An NFT (ERC-721, ERC-1155); repeatable.")
    ] = None,
    did_to: Annotated[
        str | None, typer.Option("--did-to", metavar="ADDRESS", help="The DID's next controller, which must accept it.")
    ] = None,
    bundler: Annotated[str | None, typer.Option(metavar="URL", help="An ERC-4337 bundler that sends it.")] = None,
    paymaster: PaymasterUrl = None,
    sender_key: Annotated[
        Path | None,
        typer.Option(
            "--sender-key",
            metavar="FILE",
            help=f"Without a bundler: hex private key that pays; mode 0600; made if new. Or {exit_steps.SENDER_KEY}.",
        ),
    ] = None,
    max_cost: Annotated[str, typer.Option("--max-cost", metavar="ETH", help="The most that fees may be.")] = "0.01",
    account: Account = None,
    entry_point: Annotated[
        str, typer.Option("--entry-point", metavar="ADDRESS", help="EntryPoint v0.7, v0.8 or v0.9.")
    ] = ENTRY_POINT_V07,
    registry: Annotated[str, typer.Option(metavar="ADDRESS", help="The DIDs' registry.")] = DID_REGISTRY,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    owner_passkey: Annotated[
        bool,
        typer.Option("--owner-passkey", help="Without a vault: a passkey that owns the account (--account) signs."),
    ] = False,
    val_share: ValShare = None,
    second_vault: SecondVault = None,
    second_passkey: SecondPasskey = None,
    second_file: SecondFile = None,
    as_json: AsJson = False,
) -> None:
    """Move everything from the vault's account to an address, without any Holdfast service.

    Shows the vault's keys; with --rpc, the account's owners and what it has; with --to, moves it: USDC, named tokens
    and NFTs, the rest of the chain's coin. --service only names the passkeys' site and is never called.
    With --owner-passkey, a passkey that owns the account suffices.
    """
    from holdfast.client.leaving.moves import wei_of

    with exit_steps.plain_errors(as_json=as_json):
        request = ExitRequest(
            account=_address(account, "--account"),
            named=_named(chain, entry_point, registry, token, nft),
            to=_address(to, "--to"),
            did_to=_address(did_to, "--did-to"),
            max_cost=wei_of(max_cost),
        )
        if to is not None:
            require_answer(yes=yes, as_json=as_json)
            exit_steps.require_way(rpc, bundler, sender_key)
        payer = exit_steps.payer_of(sender_key, as_json=as_json) if to is not None and bundler is None else None
        nodes = None if rpc is None else exit_steps.Nodes(rpc, bundler, paymaster, payer)
        source = Source(file, folder, key, service, val_share)
        with ExitStack() as vaults:
            first = _first_key(vaults, source, request, nodes, by_passkey=owner_passkey)
            second = second_key(second_vault, second_passkey, second_file, service, as_json=as_json)
            _leave(first, vaults.enter_context(second), request, nodes, yes=yes, as_json=as_json)


def _first_key(
    vaults: ExitStack, source: Source, request: ExitRequest, nodes: exit_steps.Nodes | None, *, by_passkey: bool
) -> FirstKey:
    if by_passkey:
        return exit_steps.of_passkey(nodes, request.named.chain_id, request.account, passkey_sources(source))
    return exit_steps.of_vault(vaults.enter_context(opened(source)), request.account)


def _leave(
    first: FirstKey,
    second: SecondKey,
    request: ExitRequest,
    nodes: exit_steps.Nodes | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    from holdfast.cli import exit_report as report
    from holdfast.client.leaving.reading import standing_of

    said: dict[str, object] = {**first.known}
    if nodes is None:
        emit(said, report.known_text(first.known), as_json=as_json)
        return
    other = second if second.signer else None
    standing = nodes.ask(lambda to: standing_of(to.chain, first.key, request.named, other, first.passkey))
    said |= report.standing_value(standing)
    text = f"{report.known_text(first.known)}\n{report.standing_text(standing)}"
    if request.to is None:
        emit(said, text, as_json=as_json)
        return
    plan = _planned(standing, request, nodes)
    said |= report.plan_value(plan)
    if not as_json:
        emit(None, f"{text}\n{report.plan_text(plan)}", as_json=False)
    confirm("sign and send this?", yes=yes, as_json=as_json)
    _send(first, plan, nodes, said, as_json=as_json)


def _planned(standing: Standing, request: ExitRequest, nodes: exit_steps.Nodes) -> Plan:
    from holdfast.client.flows.failures import OperationFailed
    from holdfast.client.flows.second_key import SecondKeyMissing

    account, held = standing.account, standing.held
    where = request.destination(account.key.address)
    if account.is_incomplete:
        raise SecondKeyMissing(account.key.address, standing.others)
    if account.obstacle:
        raise OperationFailed(account.obstacle)
    if request.did_to and held.did_hash is None:
        raise OperationFailed(f"the account {account.key.address} has no DID in the registry {where.registry}")
    return nodes.ask(lambda reached: reached.way.plan(account, held, where, request.max_cost))


def _send(first: FirstKey, plan: Plan, nodes: exit_steps.Nodes, said: dict[str, object], *, as_json: bool) -> None:
    from holdfast.chain.errors import NoReceipt
    from holdfast.client.flows.failures import OperationFailed
    from holdfast.wire.client_errors import NetworkError

    operation = first.signed(plan)
    try:
        done = nodes.ask(lambda reached: reached.way.send(plan, operation))
    except (NetworkError, OperationFailed, KeyboardInterrupt) as error:
        if not isinstance(error, OperationFailed) or isinstance(error.__cause__, (NoReceipt, TimeoutError)):
            note("it may have been sent: look first what the account has, without --to", as_json=as_json)
        raise
    emit_done({**said, "transactionHash": done.transaction_hash}, f"moved: {done.transaction_hash}", as_json=as_json)


def _named(chain: int, entry_point: str, registry: str, tokens: list[str] | None, nfts: list[str] | None) -> Named:
    from holdfast.client.flows.accounts import address_in
    from holdfast.client.leaving.moves import nft_of
    from holdfast.client.leaving.reading import Named

    return Named(
        chain_id=chain,
        entry_point=_entry_point(entry_point),
        registry=address_in(registry, "--registry"),
        usdc=CHAINS[chain].usdc if chain in CHAINS else None,
        tokens=tuple(address_in(token, "--token") for token in tokens or ()),
        nfts=tuple(nft_of(nft) for nft in nfts or ()),
    )


def _address(text: str | None, option: str) -> str | None:
    from holdfast.client.flows.accounts import address_in

    return None if text is None else address_in(text, option)


def _entry_point(text: str) -> str:
    from holdfast.chain.entry_points import entry_point_at
    from holdfast.chain.errors import UnknownEntryPoint

    try:
        return entry_point_at(text).address
    except UnknownEntryPoint:
        raise ValueError(
            "--entry-point: accounts obey EntryPoint v0.7, v0.8 and v0.9 at their addresses only"
        ) from None
