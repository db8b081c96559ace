"""Reads an account's owners, guardians, terms, recovery and permissions from its chain.

The contract stores keys by their IDs only. A key's bytes come from the contract's events, and its present role from the
contract's state, so a chain endpoint that leaves out events can hide a key but not invent one.
"""

from __future__ import annotations

import asyncio
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.chain import values
from holdfast.chain.abi import call_data, encode
from holdfast.chain.account_calls import PERMISSION, Permission, SignedChanges, changes_in
from holdfast.chain.errors import RpcError
from holdfast.chain.signers import key_id, p256_signer
from holdfast.wire.abi import WORD, content, content_at, members_at, number_at, selector, word
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, keccak256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.values import Log

T = TypeVar("T")

OWNER_ADDED = keccak256(b"OwnerAdded(bytes32,bytes,uint48)")
OWNER_REMOVED = keccak256(b"OwnerRemoved(bytes32)")
GUARDIAN_ADDED = keccak256(b"GuardianAdded(bytes32,bytes)")
RECOVERY_STARTED = keccak256(b"RecoveryStarted(uint32,uint48,bytes[])")
PERMISSION_GRANTED = keccak256(f"PermissionGranted(bytes32,bytes32,{PERMISSION})".encode())
_CHANGED = (
    *(OWNER_ADDED, OWNER_REMOVED, GUARDIAN_ADDED),
    *(keccak256(name) for name in (b"GuardianRemoved(bytes32)", b"ThresholdChanged(uint8)")),
    *(keccak256(name) for name in (b"RecoveryTermsChanged(uint8,uint32)", b"PublicKeyChanged(uint256,uint256)")),
)
ACCOUNT_CREATED = keccak256(b"AccountCreated(address,address,uint256,uint256,uint256)")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an account counts and requires (contracts/src/account/Settings.sol). `delay` in seconds."""

    sequence: int = 0
    generation: int = 0
    owners: int = 1
    threshold: int = 1
    guardians: int = 0
    quorum: int = 0
    delay: int = 3 * 86400
    recovery_nonce: int = 0


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner. `expiry`: Unix time, 0 for never. `is_primary`: its plain signatures are valid too."""

    signer: bytes
    expiry: int
    is_primary: bool

    def signs_at(self, now: float) -> bool:
        """Return whether its signatures are valid at `now` (Unix time)."""
        return not has_expired(self.expiry, now)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery that is under way.

    Attributes:
        ready_at: Unix time from which it can be finished.
        supporters: how many guardians signed it.
        new_owners: the owners that the account would have; None if the endpoint does not show them.
    """

    ready_at: int
    supporters: int
    new_owners: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class Granted:
    """A permission that is granted: what was spent and is left in this period, in the token's units."""

    permission: Permission
    spent: int
    left: int
    period_end: int


@dataclass(frozen=True, slots=True)
class Created:
    """The first key of an account and its salt."""

    x: int
    y: int
    salt: int


def has_expired(expiry: int, now: float) -> bool:
    """Return whether an owner's time is over: the contract lists it until it is removed, but it signs nothing."""
    return 0 < expiry <= now


async def settings_of(chain: RpcClient, account: str) -> Settings:
    """Return the settings of an account that exists. Raises RpcError."""
    return Settings(*await _numbers(chain, account, "accountSettings()", 8))


async def owner_state(chain: RpcClient, account: str, signer: bytes) -> tuple[bool, int, bool]:
    """Return whether a signer is an owner (also if expired), its expiry, and whether it is a guardian."""
    owner, expiry, guardian = await _numbers(chain, account, "keyState(bytes32)", 3, key_id(signer))
    return owner == 1, expiry, guardian == 1


async def primary_of(chain: RpcClient, account: str) -> bytes | None:
    """Return the primary key as a signer, or None without one."""
    x, y = await _numbers(chain, account, "publicKey()", 2)
    return p256_signer(x, y) if y else None


async def created_of(chain: RpcClient, factory: str, account: str, block: int | None = None) -> Created | None:
    """Return the key and salt in the factory's event about the account, or None without one. The caller checks them.

    `block`: the only block that is searched.
    """
    about = [to_hex(ACCOUNT_CREATED), to_hex(from_hex(account).rjust(WORD, b"\0"))]
    found = await _logs(
        chain, factory, about, lambda log: Created(*(int.from_bytes(word(log.data, at)) for at in range(3))), block
    )
    return found[0] if found else None


async def owners_of(chain: RpcClient, account: str, more: Iterable[bytes] = ()) -> list[Owner]:
    """Return the account's owners, oldest first. `more`: signers that may be owners without an event."""
    primary = await primary_of(chain, account)
    added = await _signers(chain, account, OWNER_ADDED)
    known = list(dict.fromkeys([*more, *added, *([primary] if primary else [])]))
    states = await asyncio.gather(*(owner_state(chain, account, signer) for signer in known))
    return [
        Owner(signer, expiry, signer == primary)
        for signer, (is_owner, expiry, _) in zip(known, states, strict=True)
        if is_owner
    ]


async def guardians_of(chain: RpcClient, account: str) -> list[bytes]:
    """Return the account's guardians, oldest first."""
    known = list(dict.fromkeys(await _signers(chain, account, GUARDIAN_ADDED)))
    states = await asyncio.gather(*(owner_state(chain, account, signer) for signer in known))
    return [signer for signer, (_, _, is_guardian) in zip(known, states, strict=True) if is_guardian]


async def recovery_of(chain: RpcClient, account: str) -> Recovery | None:
    """Return the recovery that is under way, or None."""
    ready_at, supporters, short = await _numbers(chain, account, "pendingRecovery()", 3)
    if not ready_at:
        return None
    for owners in reversed(await _logs(chain, account, [to_hex(RECOVERY_STARTED)], _new_owners)):
        if int.from_bytes(keccak256(b"".join(map(keccak256, owners)))) % (1 << 200) == short:
            return Recovery(ready_at, supporters, owners)
    return Recovery(ready_at, supporters, None)


async def supporters_of(chain: RpcClient, account: str) -> int:
    """Return how many guardians signed the recovery that is under way; 0: none is. Searches no logs."""
    _, supporters, _ = await _numbers(chain, account, "pendingRecovery()", 3)
    return supporters


async def permissions_of(chain: RpcClient, account: str, permission_id: bytes | None = None) -> list[Granted]:
    """Return the permissions that are granted, oldest first; with `permission_id` only that one."""
    named = [] if permission_id is None else [to_hex(permission_id)]
    found = await _logs(chain, account, [to_hex(PERMISSION_GRANTED), *named], _permission)
    known = [each for each in dict.fromkeys(found) if permission_id in {None, each.id}]
    states = await asyncio.gather(*(_permission_state(chain, account, each) for each in known))
    return [
        Granted(each, spent, left, end)
        for each, (granted, spent, left, _, end) in zip(known, states, strict=True)
        if granted
    ]


async def history_of(chain: RpcClient, account: str) -> list[SignedChanges]:
    """Return the signed changes that were brought to this chain, from sequence 0 on, from the transactions' input.

    The list ends before the first change that no transaction of the account's events contains. Forged changes may be
    among them, as other candidates of the same sequence: `account_candidates.accepted` chooses.
    """
    topics = [[to_hex(topic) for topic in _CHANGED]]
    names = dict.fromkeys(await _logs(chain, account, topics, lambda log: log.transaction_hash))
    answers = await asyncio.gather(*(chain.call("eth_getTransactionByHash", [to_hex(name)]) for name in names))
    inputs = [values.data(answer["input"]) for answer in answers if isinstance(answer, dict) and "input" in answer]
    found = dict.fromkeys(each for data in inputs for each in changes_in(account, data))
    applied, shown = (await settings_of(chain, account)).sequence, {signed.sequence for signed in found}
    end = next((sequence for sequence in range(applied) if sequence not in shown), applied)
    return sorted((signed for signed in found if signed.sequence < end), key=lambda signed: signed.sequence)


async def _signers(chain: RpcClient, account: str, event: bytes) -> list[bytes]:
    """Return the signers that events name, oldest first; only those whose hash is the event's key ID."""
    found = await _logs(
        chain, account, [to_hex(event)], lambda log: (log.topics[1], content(log.data, word(log.data, 0)))
    )
    return [signer for name, signer in found if key_id(signer) == name]


async def _logs(
    chain: RpcClient, address: str, topics: list[Any], read: Callable[[Log], T], block: int | None = None
) -> list[T]:
    """Return what `read` makes of a contract's events. Raises RpcError, also for malformed events."""
    first, last = ("0x0", "latest") if block is None else (hex(block), hex(block))
    where = {"address": address, "fromBlock": first, "toBlock": last, "topics": topics}
    found = values.logs(await chain.call("eth_getLogs", [where]))
    try:
        return [read(log) for log in found]
    except (ValueError, IndexError) as error:
        raise RpcError("answer has a malformed event") from error


async def _numbers(chain: RpcClient, account: str, signature: str, count: int, *given: Any) -> list[int]:
    result = await chain.eth_call(account, call_data(signature, *given), at_least=count * WORD)
    return [int.from_bytes(word(result, index)) for index in range(count)]


async def _permission_state(chain: RpcClient, account: str, permission: Permission) -> list[int]:
    data = selector(f"permissionState({PERMISSION})") + _words(permission)
    result = await chain.eth_call(account, data, at_least=5 * WORD)
    return [int.from_bytes(word(result, index)) for index in range(5)]


def _words(permission: Permission) -> bytes:
    return encode([PERMISSION], [astuple(permission)])


def _permission(log: Log) -> Permission:
    words = [word(log.data, index) for index in range(9)]
    number = [int.from_bytes(each) for each in words]
    return Permission(
        key_id=words[0],
        token=checksum_address(words[1][12:]),
        allowance=number[2],
        period=number[3],
        start=number[4],
        until=number[5],
        target=checksum_address(words[6][12:]),
        function=words[7][:4],
        salt=number[8],
    )


def _new_owners(log: Log) -> tuple[bytes, ...]:
    return tuple(content_at(log.data, each) for each in members_at(log.data, number_at(log.data, WORD)))
