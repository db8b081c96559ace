"""Calls of accounts for owners, recovery and permissions, and of the factory for an account with its history."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data, encode
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.calls import execute_batch
from holdfast.wire.abi import WORD, content_at, members_at, number_at, selector
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.chain.calls import Call

_CHANGES = "(uint8,bytes,uint256)[]"
_APPLY = f"applyChangesEverywhere(uint64,{_CHANGES},bytes)"
_CREATE_WITH = f"createAccountWith(uint256,uint256,uint256,({_CHANGES},bytes)[])"
PERMISSION = "(bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256)"
NOBODY = "0x" + "00" * 20


@dataclass(frozen=True, slots=True)
class SignedChanges:
    """Changes that owners signed once for every chain, and that anyone may bring to a chain.

    Attributes:
        account: the account's address.
        sequence: the place among the account's changes, from 0.
        changes: the changes in their order.
        signature: the owners' signature by name.
    """

    account: str
    sequence: int
    changes: tuple[Change, ...]
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What a key may spend, as the contract's `Permission` (contracts/src/account/Permissions.sol).

    Attributes:
        key_id: Keccak-256 of the spender's signer.
        token: ERC-20 token, or the zero address for the chain's coin.
        allowance: the most in one period, in the token's units.
        period: seconds; 0: all the time is one period.
        start, until: Unix times; `until` 0: no end.
        target: the only receiver, or the zero address for any.
        function: the only function of `target` that may be called (4 bytes), or zeros for transfers only.
        salt: distinguishes permissions that are otherwise equal.

    Raises ValueError for a number that exceeds its field in the contract.
    """

    key_id: bytes
    token: str
    allowance: int
    period: int
    start: int
    until: int = 0
    target: str = NOBODY
    function: bytes = bytes(4)
    salt: int = 0

    def __post_init__(self) -> None:
        times = (self.period, self.start, self.until)
        if not all(0 <= it < 1 << 48 for it in times) or not 0 <= self.allowance < 1 << 160:
            raise ValueError("allowance, period or until: outside the account's range")

    @property
    def id(self) -> bytes:
        """The permission's ID: Keccak-256 of its nine words."""
        return keccak256(encode([PERMISSION], [astuple(self)]))


def apply_changes(signed: SignedChanges) -> Call:
    """Return the call that brings signed changes to an account that exists."""
    return signed.account, 0, call_data(_APPLY, signed.sequence, _listed(signed.changes), signed.signature)


def apply_together(account: str, history: Sequence[SignedChanges]) -> Call:
    """Return the call by which the account applies several signed changes to itself, all or none."""
    return account, 0, execute_batch([apply_changes(each) for each in history])


def create_account_with(factory: str, key: tuple[int, int], salt: int, history: Sequence[SignedChanges]) -> Call:
    """Return the factory's call that creates the account of a first key, and applies all changes from sequence 0 on."""
    listed = [(_listed(signed.changes), signed.signature) for signed in history]
    return factory, 0, call_data(_CREATE_WITH, *key, salt, listed)


def start_recovery(account: str, new_owners: Sequence[bytes], signatures: bytes) -> Call:
    """Return the call that starts a recovery with the guardians' signatures by name."""
    return account, 0, call_data("startRecovery(bytes[],bytes)", list(new_owners), signatures)


def finish_recovery(account: str, new_owners: Sequence[bytes]) -> Call:
    """Return the call, open to anyone, that finishes a recovery after its delay."""
    return account, 0, call_data("finishRecovery(bytes[])", list(new_owners))


def cancel_recovery(account: str, signature: bytes) -> Call:
    """Return the call that cancels a recovery with an owner's signature by name."""
    return account, 0, call_data("cancelRecoverySigned(bytes)", signature)


def grant_permission(account: str, permission: Permission) -> Call:
    """Return the account's call of itself that grants a permission."""
    return account, 0, call_data(f"grantPermission({PERMISSION})", astuple(permission))


def revoke_permission(account: str, permission_id: bytes) -> Call:
    """Return the account's call of itself that revokes a permission."""
    return account, 0, call_data("revokePermission(bytes32)", permission_id)


def spend(account: str, permission: Permission, to: str, amount: int) -> Call:
    """Return the call by which the permission's spender transfers `amount` from the account."""
    data = call_data(f"spend({PERMISSION},address,uint256,bytes)", astuple(permission), to, amount, b"")
    return account, 0, data


def changes_in(account: str, data: bytes) -> Iterator[SignedChanges]:
    """Yield the changes of the account in a transaction's input, however deeply other calls contain them.

    They are read as the contract reads them, which ignores how values are padded. Whether their signatures are valid is
    for the caller to check on its chain.
    """
    for start in _offsets(data, selector(_APPLY)):
        with suppress(ValueError):
            yield _signed(account, number_at(data, start), data, start, start + WORD)
    for start in _offsets(data, selector(_CREATE_WITH)):
        with suppress(ValueError):
            for sequence, step in enumerate(members_at(data, start + number_at(data, start + 3 * WORD))):
                with suppress(ValueError):
                    yield _signed(account, sequence, data, step, step)


def _offsets(data: bytes, part: bytes) -> Iterator[int]:
    """Yield where the arguments of each call begin."""
    start = data.find(part)
    while start >= 0:
        yield start + len(part)
        start = data.find(part, start + 1)


def _signed(account: str, sequence: int, data: bytes, base: int, at: int) -> SignedChanges:
    """Return the changes and the signature whose positions from `base` are at `at` and after it."""
    starts = members_at(data, base + number_at(data, at))
    changes = tuple(
        Change(
            ChangeKind(number_at(data, each)),
            content_at(data, each + number_at(data, each + WORD)),
            number_at(data, each + 2 * WORD),
        )
        for each in starts
    )
    return SignedChanges(account, sequence, changes, content_at(data, base + number_at(data, at + WORD)))


def _listed(changes: Sequence[Change]) -> list[tuple[int, bytes, int]]:
    return [(int(change.kind), change.signer, change.value) for change in changes]
