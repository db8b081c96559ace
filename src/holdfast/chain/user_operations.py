"""A user operation (ERC-4337) and its JSON-RPC form.

The module `packed_operations` computes the packed form and the hash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.chain.fees import Fees
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256
from holdfast.wire.paymasters import pays

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDRESS_BYTES = 20
_HALF, _WORD = 2**128, 2**256
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
# The fields of a user operation: their names in Python and in the RPC object. `_BOUNDS` contains the limits of the
# numbers in the packed form, in which two gas limits or two fees share one word.
_WIRE_NAMES = {
    "sender": "sender",
    "nonce": "nonce",
    "factory": "factory",
    "factory_data": "factoryData",
    "call_data": "callData",
    "call_gas_limit": "callGasLimit",
    "verification_gas_limit": "verificationGasLimit",
    "pre_verification_gas": "preVerificationGas",
    "max_fee_per_gas": "maxFeePerGas",
    "max_priority_fee_per_gas": "maxPriorityFeePerGas",
    "paymaster": "paymaster",
    "paymaster_verification_gas_limit": "paymasterVerificationGasLimit",
    "paymaster_post_op_gas_limit": "paymasterPostOpGasLimit",
    "paymaster_data": "paymasterData",
    "signature": "signature",
}
_BOUNDS = {
    "nonce": _WORD,
    "pre_verification_gas": _WORD,
    "call_gas_limit": _HALF,
    "verification_gas_limit": _HALF,
    "max_fee_per_gas": _HALF,
    "max_priority_fee_per_gas": _HALF,
    "paymaster_verification_gas_limit": _HALF,
    "paymaster_post_op_gas_limit": _HALF,
}
_PAYMASTER_SIGNATURE = "paymasterSignature"
# EntryPoint 0.9.0, UserOperationLib: paymaster data may end with a signature ‖ its length (2 bytes) ‖ this magic.
SIGNATURE_MAGIC = keccak256(b"PaymasterSignature")[:8]
_OF_PAYMASTER = ("paymaster_verification_gas_limit", "paymaster_post_op_gas_limit", "paymaster_data")


@dataclass(frozen=True, kw_only=True, slots=True)
class UserOperation:
    """A user operation of the account `sender`.

    Gas is in units, and fees are in wei per unit; None becomes null in the RPC form.

    Raises ValueError if a number is too large for the packed form, or a field lacks the field that it belongs to.
    """

    sender: bytes
    nonce: int
    call_data: bytes
    call_gas_limit: int = 0
    verification_gas_limit: int = 0
    pre_verification_gas: int = 0
    max_fee_per_gas: int = 0
    max_priority_fee_per_gas: int = 0
    factory: bytes | None = None
    factory_data: bytes | None = None
    paymaster: bytes | None = None
    paymaster_verification_gas_limit: int | None = None
    paymaster_post_op_gas_limit: int | None = None
    paymaster_data: bytes | None = None
    signature: bytes = b""

    def __post_init__(self) -> None:
        for address in (self.sender, self.factory, self.paymaster):
            if address is not None and len(address) != ADDRESS_BYTES:
                raise ValueError("an address has 20 bytes")
        for name, bound in _BOUNDS.items():
            if not 0 <= (getattr(self, name) or 0) < bound:
                raise ValueError(f"{name} does not fit")
        if self.factory is None and self.factory_data:
            raise ValueError("factory data without a factory")
        if self.paymaster is None and any(getattr(self, name) for name in _OF_PAYMASTER):
            raise ValueError("paymaster fields without a paymaster")

    @property
    def sponsored(self) -> bool:
        """Whether a paymaster pays; see `holdfast.wire.paymasters`."""
        return pays(self.paymaster)

    @property
    def fees(self) -> Fees:
        """The fees that the operation offers."""
        return Fees(self.max_fee_per_gas, self.max_priority_fee_per_gas)

    @property
    def greatest_cost(self) -> int:
        """The most that the entry point may charge the payer, in wei (ERC-4337)."""
        gas = self.call_gas_limit + self.verification_gas_limit + self.pre_verification_gas
        gas += (self.paymaster_verification_gas_limit or 0) + (self.paymaster_post_op_gas_limit or 0)
        return gas * self.max_fee_per_gas

    @classmethod
    def from_rpc(cls, form: Mapping[str, object]) -> UserOperation:
        """Return the operation that an RPC object describes. An absent optional field is the same as null.

        A `paymasterSignature` (EntryPoint v0.9) becomes the end of the paymaster's data, as in the packed form.

        Raises ValueError.
        """
        unknown = set(form) - {*_WIRE_NAMES.values(), _PAYMASTER_SIGNATURE}
        if unknown:
            raise ValueError(f"unknown field {min(unknown)[:40]}")
        given: dict[str, Any] = {
            name: _read(form[wire], name) for name, wire in _WIRE_NAMES.items() if form.get(wire) is not None
        }
        missing = {"sender", "nonce", "call_data"} - set(given)
        if missing:
            raise ValueError(f"missing field {_WIRE_NAMES[min(missing)]}")
        signature = from_hex(_text(form.get(_PAYMASTER_SIGNATURE) or "0x", _PAYMASTER_SIGNATURE))
        if signature:
            given["paymaster_data"] = given.get("paymaster_data", b"") + _signature_suffix(signature)
        return cls(**given)

    def to_rpc(self) -> dict[str, str | None]:
        """Return the RPC object. The object has all fields; those of a missing factory or paymaster are null."""
        return {wire: _write(getattr(self, name)) for name, wire in _WIRE_NAMES.items()}

    def signed(self, signature: bytes) -> UserOperation:
        """Return the operation with `signature`, which the hash does not cover."""
        return replace(self, signature=signature)

    def priced(self, fees: Fees) -> UserOperation:
        """Return the operation with these fees."""
        return replace(self, max_fee_per_gas=fees[0], max_priority_fee_per_gas=fees[1])


def _signature_suffix(signature: bytes) -> bytes:
    if len(signature) >= 1 << 16:
        raise ValueError("the paymaster's signature is too long")
    return signature + len(signature).to_bytes(2) + SIGNATURE_MAGIC


def _read(value: object, name: str) -> int | bytes:
    text = _text(value, name)
    if name not in _BOUNDS:
        return from_hex(text)
    if not _QUANTITY.fullmatch(text):
        raise ValueError(f"{name} is not a hexadecimal number")
    return int(text, 16)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or value[:2] != "0x":
        raise ValueError(f"{name} is not a text that begins with 0x")
    return value


def _write(value: int | bytes | None) -> str | None:
    if value is None:
        return None
    return to_hex(value) if isinstance(value, bytes) else hex(value)
