"""The JSON shapes of the indexer's responses, with the interface's names and types ("Indexer record shapes").

The shape of events is not part of the interface.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType, field

from holdfast.wire.encoding import to_iso
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from holdfast.indexer.progress import FollowProgress
    from holdfast.indexer.rows import AccountRow, DidRow, Event
    from holdfast.indexer.store import AliasView, StatsView
    from holdfast.indexer.transfers import Transfer


class Shape(Struct, frozen=True, kw_only=True):
    """Base of all shapes."""


class IndexerDid(Shape, frozen=True, kw_only=True):
    """A DID of the registry."""

    found: bool = True
    did_hash: str
    controller: str
    metadata_cid: str
    active: bool
    block_number: str
    tx_hash: str


class IndexerAlias(Shape, frozen=True, kw_only=True):
    """An alias of the registry."""

    found: bool = True
    alias_hash: str
    did_hash: str
    active: bool
    controller: str | UnsetType = UNSET


class IndexerAccount(Shape, frozen=True, kw_only=True):
    """An account of the factory."""

    found: bool = True
    account_address: str
    owner_address: str
    block_number: str
    tx_hash: str


class IndexerStats(Shape, frozen=True, kw_only=True):
    """The counters."""

    total_dids: int
    active_dids: int
    total_aliases: int
    total_accounts: int
    last_block_number: int


class IndexerHealth(Shape, frozen=True, kw_only=True):
    """Whether the index agrees with its chain, and that chain's ID."""

    ok: bool
    chain: int


class IndexerProgress(Shape, frozen=True, kw_only=True):
    """The progress of the index; unknown values are null."""

    last_block_number: int | None
    chain_block_number: int | None
    blocks_behind: int | None
    agreed_seconds_ago: float | None
    failures: int


class IndexerEvent(Shape, frozen=True, kw_only=True, omit_defaults=True):
    """One event. Fields that this kind of event does not have are left out."""

    kind: str
    block_number: str
    log_index: int
    block_hash: str
    tx_hash: str
    did_hash: str | UnsetType = UNSET
    alias_hash: str | UnsetType = UNSET
    controller: str | UnsetType = UNSET
    previous_controller: str | UnsetType = UNSET
    proposed_controller: str | UnsetType = UNSET
    account_address: str | UnsetType = UNSET
    owner_address: str | UnsetType = UNSET
    key_owner: str | UnsetType = UNSET
    metadata_cid: str | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class IndexerTransfer(Shape, frozen=True, kw_only=True):
    """A transfer of a token, as one of its two accounts sees it; one to itself counts as outgoing."""

    direction: str
    token: str
    sender: str = field(name="from")
    recipient: str = field(name="to")
    amount: str
    block_number: str
    log_index: int
    tx_hash: str
    time: str


def transfer_shape(row: Transfer, account: bytes, token: bytes | None) -> IndexerTransfer:
    """Return a transfer's JSON shape for an account."""
    return IndexerTransfer(
        direction="out" if row.sender == account else "in",
        token=_address(token or b""),
        sender=_address(row.sender),
        recipient=_address(row.recipient),
        amount=str(row.amount),
        block_number=str(row.block_number),
        log_index=row.log_index,
        tx_hash=_hex(row.tx_hash),
        time=to_iso(row.time),
    )


def did_shape(row: DidRow) -> IndexerDid:
    """Return a DID's JSON shape."""
    return IndexerDid(
        did_hash=_hex(row.did_hash),
        controller=_address(row.controller),
        metadata_cid=row.metadata_cid,
        active=bool(row.active),
        block_number=str(row.block_number),
        tx_hash=_hex(row.tx_hash),
    )


def alias_shape(row: AliasView) -> IndexerAlias:
    """Return an alias's JSON shape, without a controller if the index starts after the registration of its DID."""
    return IndexerAlias(
        alias_hash=_hex(row.alias_hash),
        did_hash=_hex(row.did_hash),
        active=bool(row.active),
        controller=UNSET if row.controller is None else _address(row.controller),
    )


def account_shape(row: AccountRow) -> IndexerAccount:
    """Return an account's JSON shape."""
    return IndexerAccount(
        account_address=_address(row.account_address),
        owner_address=_address(row.owner_address),
        block_number=str(row.block_number),
        tx_hash=_hex(row.tx_hash),
    )


def stats_shape(view: StatsView) -> IndexerStats:
    """Return the JSON shape of the counters; the last block of an empty index is 0."""
    return IndexerStats(
        total_dids=view.dids,
        active_dids=view.active_dids,
        total_aliases=view.aliases,
        total_accounts=view.accounts,
        last_block_number=view.last_block or 0,
    )


def progress_shape(progress: FollowProgress) -> IndexerProgress:
    """Return the JSON shape of the index's progress."""
    return IndexerProgress(
        last_block_number=progress.tip,
        chain_block_number=progress.head,
        blocks_behind=progress.behind,
        agreed_seconds_ago=None if progress.agreed_s_ago is None else round(progress.agreed_s_ago, 1),
        failures=progress.failures,
    )


def event_shape(event: Event) -> IndexerEvent:
    """Return an event's JSON shape."""
    return IndexerEvent(
        kind=event.kind,
        block_number=str(event.block_number),
        log_index=event.log_index,
        block_hash=_hex(event.block_hash),
        tx_hash=_hex(event.tx_hash),
        did_hash=_hex_or_unset(event.did_hash),
        alias_hash=_hex_or_unset(event.alias_hash),
        controller=_address_or_unset(event.controller),
        previous_controller=_address_or_unset(event.previous_controller),
        proposed_controller=_address_or_unset(event.proposed_controller),
        account_address=_address_or_unset(event.account_address),
        owner_address=_address_or_unset(event.owner_address),
        key_owner=_address_or_unset(event.key_owner),
        metadata_cid=UNSET if event.metadata_cid is None else event.metadata_cid,
        active=UNSET if event.active is None else bool(event.active),
    )


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


def _hex_or_unset(data: bytes | None) -> str | UnsetType:
    return UNSET if data is None else _hex(data)


@lru_cache(65_536)
def _address(data: bytes) -> str:
    """Return the EIP-55 address.

    Results are cached, since checksums need a hash and pages repeat the same addresses.
    """
    return checksum_address(data)


def _address_or_unset(data: bytes | None) -> str | UnsetType:
    return UNSET if data is None else _address(data)
