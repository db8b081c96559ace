"""Which keys sign an operation of an account where two owners must sign (vectors/accounts/two_keys.json).

With a threshold of 2 the account accepts one signature only for what a spending permission of that key covers. So a
permission to the vault's own key is the sum up to which one key suffices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from holdfast.chain.account_calls import NOBODY
from holdfast.chain.signers import key_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.chain.account_reads import Granted, Owner


@dataclass(frozen=True, slots=True)
class Way:
    """How an operation is authorised.

    Attributes:
        kind: "one": the vault's key signs; "permission": it signs, and spends by a permission; "two": the second key
            signs too; "missing": the second key is missing.
        permission: by which it spends.
        keys: the owners of which one is missing.
    """

    kind: Literal["one", "permission", "two", "missing"]
    permission: Granted | None = None
    keys: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Transfer:
    """A payment: address, amount in the token's smallest unit, and an ERC-20 address or zeros for the chain's coin."""

    to: str
    amount: int
    token: str


def way_of(threshold: int, own: bytes, second: bytes | None, owners: Iterable[Owner], now: float) -> Way:
    """Return who signs any operation, as signers. `now` is the Unix time."""
    if threshold < 2:  # noqa: PLR2004 - two owners
        return Way("one")
    others = tuple(it.signer for it in owners if it.signer != own and it.signs_at(now))
    return Way("two") if second in others else Way("missing", keys=others)


def within_sum(own: bytes, granted: Sequence[Granted], transfer: Transfer) -> Way | None:
    """Return the way of a payment that a permission of the vault's own key covers, or None."""
    for each in granted:
        it = each.permission
        is_for = it.key_id == key_id(own) and it.function == bytes(4) and each.left >= transfer.amount
        if is_for and _same(it.token, transfer.token) and (it.target == NOBODY or _same(it.target, transfer.to)):
            return Way("permission", each)
    return None


def missing_text(account: str, keys: Iterable[bytes]) -> str:
    """Return what to say if the second key is missing."""
    named = " or ".join("0x" + key.hex() for key in keys) or "none, because the account shows no other owner"
    return f"two owners of the account {account} must sign: the vault's key, and as the second key {named}"


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
