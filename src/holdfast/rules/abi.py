"""The ABI-encoded calls and results that the service writes and reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.wire import abi
from holdfast.wire.abi import WORD
from holdfast.wire.errors import INVALID_ACCOUNT, INVALID_PUBLIC_KEY, INVALID_SALT, Refused

GET_ADDRESS = bytes.fromhex("e81b22ea")  # getAddress(uint256,uint256,uint256)
GET_ACCOUNT_STATE = bytes.fromhex("9ee2735b")  # getAccountState(address)
GET_ACCOUNT_STATE_AT = bytes.fromhex("1f40efa0")  # getAccountStateAt(address,address)
GET_DID = bytes.fromhex("cdfa5eb2")  # getDid(bytes32), DIDRegistry
PUBLIC_KEY = bytes.fromhex("63ffab31")  # publicKey(), VaultAccount
BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address), ERC-20
_ENTRY_POINT_V07 = bytes.fromhex("0000000071727de22e5e9d8baf0edac6f37da032")

_UINT256_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,64})")
_UINT256_PREFIXED = re.compile(r"0[xX]([0-9a-fA-F]{1,64})")
_DECIMAL = re.compile(r"[0-9]{1,78}")
_ADDRESS = re.compile(r"0[xX]([0-9a-fA-F]{40})")
_UINT256_END = 2**256


class MalformedAnswer(ValueError):
    """A contract's result is not in the documented form."""


@dataclass(frozen=True, slots=True)
class AccountSlots:
    """The five words that `getAccountState` and `getAccountStateAt` return."""

    nonce: int
    did: bytes
    is_active: bool
    pub_key_x: bytes
    pub_key_y: bytes


def parse_coordinate(text: str) -> int:
    """Return a P-256 coordinate of at most 64 hex digits, `0x` optional. Raises Refused(INVALID_PUBLIC_KEY)."""
    match = _UINT256_HEX.fullmatch(text)
    if match is None:
        raise Refused(INVALID_PUBLIC_KEY)
    return int(match[1], 16)


def parse_salt(text: str) -> int:
    """Return a uint256, decimal or `0x` hex. Raises Refused(INVALID_SALT)."""
    if match := _UINT256_PREFIXED.fullmatch(text):
        return int(match[1], 16)
    if _DECIMAL.fullmatch(text) and int(text) < _UINT256_END:
        return int(text)
    raise Refused(INVALID_SALT)


def parse_address(text: str) -> bytes:
    """Return the 20-byte address that `0x` and 40 hex digits in any case encode. Raises Refused(INVALID_ACCOUNT)."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise Refused(INVALID_ACCOUNT)
    return bytes.fromhex(match[1])


def encode_get_address(x: int, y: int, salt: int) -> bytes:
    """Return the call data for the factory's `getAddress`."""
    return GET_ADDRESS + x.to_bytes(WORD) + y.to_bytes(WORD) + salt.to_bytes(WORD)


def encode_address_call(selector: bytes, address: bytes) -> bytes:
    """Return the call data for a function whose only argument is an address."""
    return selector + address.rjust(WORD, b"\0")


def encode_account_state(account: bytes, entry_point: bytes) -> bytes:
    """Return the call data that reads an account's state, including its nonce at `entry_point`.

    `getAccountState` reads the nonce at EntryPoint v0.7, so a helper that lacks `getAccountStateAt` can serve that one.
    """
    if entry_point == _ENTRY_POINT_V07:
        return encode_address_call(GET_ACCOUNT_STATE, account)
    return encode_address_call(GET_ACCOUNT_STATE_AT, account) + entry_point.rjust(WORD, b"\0")


def decode_address(data: bytes) -> bytes:
    """Return the address in a one-word result. Raises MalformedAnswer."""
    if len(data) != WORD or not any(data):
        raise MalformedAnswer("not one address")
    try:
        return abi.address(data)
    except ValueError as error:
        raise MalformedAnswer("not one address") from error


def decode_uint256(data: bytes) -> int:
    """Return the number in a one-word result. Raises MalformedAnswer."""
    if len(data) != WORD:
        raise MalformedAnswer("not one slot")
    return int.from_bytes(data)


def decode_did(data: bytes) -> tuple[bytes, bool]:
    """Return the controller in a result of `getDid`, zero for an unknown DID, and whether the DID is active.

    Raises MalformedAnswer.
    """
    if len(data) < 4 * WORD:  # controller, activity, and the text of the metadata CID
        raise MalformedAnswer("no record of a DID")
    try:
        return abi.address(data[:WORD]), any(data[WORD : 2 * WORD])
    except ValueError as error:
        raise MalformedAnswer("no record of a DID") from error


def decode_account_state(data: bytes) -> AccountSlots:
    """Return the five words of a `getAccountState` result (interface: Account state). Raises MalformedAnswer."""
    if len(data) != 5 * WORD:
        raise MalformedAnswer("not five slots")
    nonce, did, active, x, y = (data[i : i + WORD] for i in range(0, len(data), WORD))
    return AccountSlots(int.from_bytes(nonce), did, any(active), x, y)
