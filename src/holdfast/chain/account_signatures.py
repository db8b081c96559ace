"""What an account signs for others: messages (ERC-1271) nested as ERC-7739 says, and ERC-6492 before it exists.

The key signs a message together with the account and the chain, so the signature is valid for no second account of the
key and for no operation (docs/contracts.md, "Accounts").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from holdfast.chain.abi import encode
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256

_NAME, _VERSION = keccak256(b"Holdfast VaultAccount"), keccak256(b"1")
_DOMAIN = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
_PERSONAL = keccak256(b"PersonalSign(bytes prefixed)")
_FIELDS = " contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
_ERC6492 = bytes.fromhex("6492") * 16  # how a signature ends that names the call which creates the account
_LONGEST_TYPE = (1 << 16) - 1
_NAME_OF_TYPE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class Message(Protocol):
    """What an app asks an account to sign."""

    def digest(self, account: str, chain_id: int) -> bytes:
        """Return the 32 bytes that an owner's key signs."""

    def signature(self, made: bytes) -> bytes:
        """Return the account's signature with an owner's over the digest."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, as wallets sign it (ERC-191)."""

    text: str

    @property
    def hash(self) -> bytes:
        """The hash that is passed to the account's `isValidSignature`."""
        encoded = self.text.encode()
        return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(encoded)).encode() + encoded)

    def digest(self, account: str, chain_id: int) -> bytes:
        """Return the digest of `PersonalSign` in the account's domain."""
        domain = keccak256(_DOMAIN + _account(account, chain_id))
        return _typed(domain, keccak256(_PERSONAL + self.hash))

    def signature(self, made: bytes) -> bytes:
        """Return the owner's signature as it is."""
        return made


@dataclass(frozen=True, slots=True)
class TypedData:
    """Typed data (EIP-712) of an app, as its library gives it.

    Attributes:
        separator: the hash of the app's domain, 32 bytes.
        contents: the hash of the struct, 32 bytes.
        type: the struct's type with those that it uses, such as `Mail(Person to)Person(string name)`.

    Raises:
        ValueError: a hash has another length, or the type is not a struct of EIP-712.
    """

    separator: bytes
    contents: bytes
    type: str

    def __post_init__(self) -> None:
        hashes = {len(self.separator), len(self.contents)}
        name = self.type.partition("(")[0]
        if hashes != {32} or not _NAME_OF_TYPE.fullmatch(name) or len(self.type.encode()) > _LONGEST_TYPE:
            raise ValueError("typed data: two hashes of 32 bytes, and a type such as Mail(string text)")

    @property
    def hash(self) -> bytes:
        """The hash that is passed to the account's `isValidSignature`."""
        return _typed(self.separator, self.contents)

    def digest(self, account: str, chain_id: int) -> bytes:
        """Return the digest of `TypedDataSign` in the app's domain."""
        nested = f"TypedDataSign({self.type.partition('(')[0]}{_FIELDS}{self.type}"
        struct = keccak256(nested.encode()) + self.contents + _account(account, chain_id) + bytes(32)
        return _typed(self.separator, keccak256(struct))

    def signature(self, made: bytes) -> bytes:
        """Return the owner's signature with what the account needs to compute the digest."""
        named = self.type.encode()
        return made + self.separator + self.contents + named + len(named).to_bytes(2)


def before_creation(signature: bytes, factory: str, factory_data: bytes) -> bytes:
    """Return the signature of an account that does not exist yet, with the call that creates it (ERC-6492)."""
    return encode(["address", "bytes", "bytes"], [factory, factory_data, signature]) + _ERC6492


def _account(account: str, chain_id: int) -> bytes:
    return _NAME + _VERSION + chain_id.to_bytes(32) + from_hex(account).rjust(32, b"\0")


def _typed(separator: bytes, struct_hash: bytes) -> bytes:
    return keccak256(b"\x19\x01" + separator + struct_hash)
