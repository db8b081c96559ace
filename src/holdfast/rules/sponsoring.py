"""What a service's own sponsor pays for, and how much: budgets in gwei, per day (UTC).

An approved operation reserves the most that it can cost: all its gas limits at its highest fee, which includes the
entry point's penalty for unused gas. What it really cost is charged once it is mined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from holdfast.rules.addresses import network_of
from holdfast.rules.limits import NETWORK_FACTOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GWEI, ETHER = 10**9, 10**9  # wei in a gwei, gwei in an ether
DAY_S = 86_400
VALID_FOR_S = 600  # an approval's validity
REFUSED, LIMIT_EXCEEDED, INVALID_PARAMS = -32000, -32005, -32602  # JSON-RPC 2.0; EIP-1474
SPONSOR, STUB, DATA = "pm_sponsorUserOperation", "pm_getPaymasterStubData", "pm_getPaymasterData"
ACCOUNT, ANY, ALL = "account", "any", "all"
OF_PERMISSIONS, OF_COMMITMENTS = " permissions", " commitments"  # end the subjects of parts of a DID's budget
_USUAL_FEES = 4  # bundlers may ask for more than the chain, and the chain for more than when the client asked it
_ADDRESSES = 20  # so many client addresses at least must reserve in order to exhaust a day's budget, if a DID's is less
_LAPSED = 4  # of what a client address reserved in vain, this part counts in its budget for the rest of the day
CONTRACT = "contract "  # begins the subject of a contract's budget


class NotSponsored(Exception):
    """The sponsor does not pay for an operation. The message tells people why.

    Attributes:
        code: of the JSON-RPC error.
    """

    def __init__(self, message: str, code: int = REFUSED) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class SponsorLimits:
    """The limits on one chain.

    Attributes:
        did_day: gwei per DID and day.
        day: gwei per day in all.
        contracts: gwei per day for the calls to each contract, by address in lower case; `account` is the account
            itself, `any` every address that is not listed. Calls to others are not paid for.
        max_fee: the highest fee per unit of gas, in wei.
        low: the deposit in gwei below which operators are warned.
    """

    did_day: int
    day: int
    contracts: Mapping[str, int]
    max_fee: int
    low: int


class Budget(NamedTuple):
    """How much may be spent in a day on a subject, in gwei. `label` names the subject for people."""

    subject: str
    limit: int
    label: str


class Spent(NamedTuple):
    """What is spent and reserved for a subject on a day, in gwei."""

    subject: str
    gwei: int


def day_of(now: float) -> int:
    """Return the number of the day (UTC) since the epoch."""
    return int(now // DAY_S)


def in_gwei(wei: int) -> int:
    """Return an amount in gwei, rounded up."""
    return -(-wei // GWEI)


def in_ether(gwei: int) -> str:
    """Return an amount for people, in ether."""
    whole, fraction = divmod(gwei, ETHER)
    return f"{whole}.{fraction:09d}".rstrip("0").rstrip(".") + " ETH"


def require_fee(fee: int, limits: SponsorLimits, usual: int) -> None:
    """Raise NotSponsored if the fee per unit of gas (wei) is above the ceiling, or far above what the chain asks.

    What is more than the chain asks goes to the bundler that sends the operation, which may be the account's own.
    """
    most = min(limits.max_fee, _USUAL_FEES * usual)
    if fee > most:
        raise NotSponsored(
            f"the operation offers {fee / GWEI:g} gwei per unit of gas; the sponsor pays at most {most / GWEI:g} gwei"
        )


def budgets_for(
    limits: SponsorLimits, did: str, sender: str, targets: Iterable[str], *, by_permission: bool = False
) -> list[Budget]:
    """Return the budgets that an operation counts in.

    Args:
        limits: of the chain.
        did: the hash by which the DID is counted.
        sender: the account.
        targets: the addresses that it calls; the account itself if the operation is not a plain call.
        by_permission: whether it spends by a permission. The nonces of permissions and that of the owners reserve
            separately, so half of a DID's budget is left for the owners.

    Raises:
        NotSponsored: it calls a contract that is not listed.
    """
    named = dict.fromkeys(_contract(limits, sender, target) for target in targets)
    return [
        Budget(ALL, limits.day, "for everyone"),
        of_did := Budget(did, limits.did_day, "of this DID"),
        *([_half(of_did, OF_PERMISSIONS)] if by_permission else []),
        *(Budget(f"{CONTRACT}{name}", limits.contracts[name], f"for calls to {name}") for name in named),
    ]


def commitments_budget(budgets: Sequence[Budget]) -> Budget:
    """Return what commitments also count in, which the sponsor posts for an operation with these budgets.

    A stranger's request can have some posted, so half of the DID's budget is left for what its account signs.
    """
    return _half(budgets[1], OF_COMMITMENTS)


def limit_of_did(limits: SponsorLimits, subject: str) -> int:
    """Return how much may be spent in a day on a subject that is a DID, or a part of its budget."""
    return limits.did_day // 2 if subject.endswith((OF_PERMISSIONS, OF_COMMITMENTS)) else limits.did_day


def _half(budget: Budget, part: str) -> Budget:
    return Budget(budget.subject + part, budget.limit // 2, f"{budget.label}'s{part}")


def _contract(limits: SponsorLimits, sender: str, target: str) -> str:
    name = ACCOUNT if target.lower() == sender.lower() else target.lower()
    if name in limits.contracts:
        return name
    if ANY in limits.contracts and name != ACCOUNT:
        return ANY
    raise NotSponsored(f"the sponsor does not pay for calls to {target}")


def address_budgets(limits: SponsorLimits, address: str, budgets: Iterable[Budget]) -> list[Budget]:
    """Return what the approvals count in that a client address has, until they are used or end.

    Nothing in a request for an approval is signed: without these budgets, one address could reserve everyone's, or the
    smaller one of a contract, which is among `budgets`.
    """
    most, network = max(limits.did_day, limits.day // _ADDRESSES), network_of(address)
    found = [Budget(address, most, "")]
    if network is not None:
        found.append(Budget(network, NETWORK_FACTOR * most, ""))
    small = (budget for budget in budgets if budget.subject.startswith(CONTRACT) and budget.limit < most)
    return found + [Budget(f"{network or address} {budget.subject}", budget.limit, "") for budget in small]


def turn_of(valid_until: int) -> int:
    """Return the number of the ten minutes in which an approval ends: one that is renewed counts anew in each."""
    return valid_until // VALID_FOR_S


def lapsed(gwei: int) -> int:
    """Return what still counts for a client address of a reservation that ended unused, so that holding has a price.

    Without it, an address could reserve again for ever.
    """
    return -(-gwei // _LAPSED)


def require_possible(budgets: Sequence[Budget], gwei: int) -> None:
    """Raise NotSponsored for an operation that may take more than a whole budget."""
    for budget in budgets:
        if gwei > budget.limit:
            raise no_room(budget, 0, gwei)


def waits_to_be_used() -> NotSponsored:
    """Return the refusal of an operation for which the budget of the client address has no room."""
    return NotSponsored(
        "too much was approved for your network address and not used: try again in ten minutes, or after 00:00 UTC",
        LIMIT_EXCEEDED,
    )


class Held(NamedTuple):
    """What was reserved for an account's nonce: gwei, in the budgets of these subjects on a day."""

    day: int
    gwei: int
    subjects: Sequence[str]


def first_full(
    spent: Mapping[str, int], budgets: Sequence[Budget], day: int, gwei: int, held: Held | None
) -> int | None:
    """Return the place of the first budget that has no room for `gwei`, None if all have.

    Of several approvals for one nonce at most one is mined, so they reserve the largest amount together.

    Args:
        spent: gwei by subject on this day.
        budgets: what the operation counts in.
        day: today's number.
        gwei: the most that the operation can cost.
        held: what the same nonce has reserved before.
    """
    for index, budget in enumerate(budgets):
        own = held.gwei if held is not None and held.day == day and budget.subject in held.subjects else 0
        if spent.get(budget.subject, 0) - own + largest(gwei, held) > budget.limit:
            return index
    return None


def largest(gwei: int, held: Held | None) -> int:
    """Return what a nonce reserves after one more approval."""
    return gwei if held is None else max(gwei, held.gwei)


def no_room(budget: Budget, spent: int, gwei: int) -> NotSponsored:
    """Return the refusal of an operation for which a budget has no room."""
    if gwei > budget.limit:
        return NotSponsored(
            f"the operation may take {in_ether(gwei)}, more than the sponsor's budget {budget.label} of"
            f" {in_ether(budget.limit)} a day",
            LIMIT_EXCEEDED,
        )
    left = in_ether(max(budget.limit - spent, 0))
    return NotSponsored(
        f"the sponsor's budget {budget.label} is used up for today: {left} of {in_ether(budget.limit)} are left, and"
        f" the operation may take {in_ether(gwei)}. It is full again at 00:00 UTC",
        LIMIT_EXCEEDED,
    )
