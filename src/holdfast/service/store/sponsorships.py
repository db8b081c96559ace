"""The SponsorshipStore port: what the service's own sponsor has reserved and spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.sponsoring import Budget, Spent


class SponsorshipKey(NamedTuple):
    """What is paid for at most once: a nonce of an account (0x-hex, lower case) on a chain, or a commitment."""

    chain: int
    sender: str
    nonce: str


def address_key(key: SponsorshipKey, address: str, turn: int) -> SponsorshipKey:
    """Return the key by which an approval counts for a client address in one turn, apart from its chain's budgets."""
    return SponsorshipKey(address_chain(key.chain), address, f"{key.sender} {key.nonce} {turn}")


def address_chain(chain: int) -> int:
    """Return the number that stands for a chain in the keys of `address_key`."""
    return -chain


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSponsorship:
    """An operation to approve, and what it may cost at most.

    Attributes:
        day: number of the day whose budgets it counts in.
        gwei: the most that it can cost.
        valid_until: when the approval ends, in seconds since the epoch.
        block: the newest block before the approval.
    """

    key: SponsorshipKey
    day: int
    gwei: int
    budgets: Sequence[Budget]
    valid_until: int
    block: int


class Full(NamedTuple):
    """The place of the budget that has no room, and what is spent of it, in gwei."""

    budget_index: int
    spent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSponsorship:
    """An approval of which is not known yet whether it was used."""

    key: SponsorshipKey
    gwei: int
    valid_until: int
    block: int


class SponsorshipStore(Protocol):
    """Each method is one atomic step, and raises StoreUnavailable."""

    async def knows(self, did: str) -> bool:
        """Return whether a DID has an open session, an address, or a registration that the chain did not refuse."""
        ...

    async def reserve(self, new: NewSponsorship) -> Full | None:
        """Reserve the cost in all budgets, or in none and return which is full (`rules.sponsoring.first_full`).

        A nonce that has reserved something before then holds the larger amount, in the budgets of both.
        """
        ...

    async def open_sponsorships(self, chain: int, limit: int, sender: str | None = None) -> list[OpenSponsorship]:
        """Return the approvals that are not settled, of all or of one, those that end first before others."""
        ...

    async def settle(self, key: SponsorshipKey, valid_until: int, gwei: int) -> bool:
        """Replace what was reserved by what was spent: 0 if the approval ended unused.

        Returns whether it was open. An approval that was renewed since, so that its `valid_until` differs, stays.
        """
        ...

    async def spent(self, chain: int, day: int) -> list[Spent]:
        """Return what is spent and reserved on a day, by subject."""
        ...

    async def forget(self, before_day: int) -> None:
        """Remove the sums of days before this one."""
        ...
