"""The table of supported entry points (ERC-4337), by address. All others are refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from holdfast.chain.errors import UnknownEntryPoint
from holdfast.wire.encoding import from_hex


class HashKind(Enum):
    """How an entry point hashes an operation."""

    NESTED = "v0.7"  # keccak over the packed fields, then over entry point and chain
    TYPED_DATA = "v0.8"  # EIP-712, domain "ERC4337" version "1"
    UNSIGNED_SUFFIX = "v0.9"  # as v0.8, but without the paymaster's signature at the end of the paymaster data


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One release of the contract.

    `salt` is the salt with which the deterministic deployer creates `address` from the init code on npm. `salt` is None
    if the npm package contains no init code for the release; the local world then sets the runtime code directly.
    """

    version: str
    address: str
    hash_kind: HashKind
    salt: str | None


V07 = EntryPoint(
    "0.7.0",
    "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
    HashKind.NESTED,
    "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3",
)
V08 = EntryPoint(
    "0.8.0",
    "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
    HashKind.TYPED_DATA,
    "0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9",
)
V09 = EntryPoint(
    "0.9.0",
    "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
    HashKind.UNSIGNED_SUFFIX,
    None,
)
ENTRY_POINTS = (V07, V08, V09)

_BY_ADDRESS = {from_hex(entry_point.address): entry_point for entry_point in ENTRY_POINTS}


def entry_point_at(address: str) -> EntryPoint:
    """Return the entry point at the hex `address`, written in upper, lower or mixed case. Raises UnknownEntryPoint."""
    try:
        return _BY_ADDRESS[from_hex(address)]
    except (KeyError, ValueError):
        raise UnknownEntryPoint(f"no operation hash is defined for the entry point {address[:42]}") from None
