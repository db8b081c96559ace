"""A user operation in the packed form of the entry point's ABI, and its hash, which the account signs.

Sources: ERC-4337; `getUserOpHash` of EntryPoint 0.7.0, 0.8.0 and 0.9.0, from which the files in
vectors/user_operations/ were taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.chain.entry_points import HashKind, entry_point_at
from holdfast.chain.user_operations import SIGNATURE_MAGIC, UserOperation
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256

_EIP7702_FACTORY = b"\x77\x02" + b"\x00" * 18
_OPERATION_TYPE = keccak256(
    b"PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,"
    b"uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)"
)
_DOMAIN_TYPE = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
_DOMAIN_NAME, _DOMAIN_VERSION = keccak256(b"ERC4337"), keccak256(b"1")
# If paymaster data ends with a signature, the hash of EntryPoint 0.9.0 covers the magic, but not the signature or its
# length.
_SUFFIX_BYTES = 2 + len(SIGNATURE_MAGIC)
_PAYMASTER_HEAD_BYTES = 20 + 16 + 16


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedUserOperation:
    """The `PackedUserOperation` struct, which is the same in the ABIs of all supported entry points."""

    sender: bytes
    nonce: int
    init_code: bytes
    call_data: bytes
    account_gas_limits: bytes
    pre_verification_gas: int
    gas_fees: bytes
    paymaster_and_data: bytes
    signature: bytes


def pack(operation: UserOperation) -> PackedUserOperation:
    """Return the packed form of `operation`."""
    return PackedUserOperation(
        sender=operation.sender,
        nonce=operation.nonce,
        init_code=(operation.factory or b"") + (operation.factory_data or b""),
        call_data=operation.call_data,
        account_gas_limits=_halves(operation.verification_gas_limit, operation.call_gas_limit),
        pre_verification_gas=operation.pre_verification_gas,
        gas_fees=_halves(operation.max_priority_fee_per_gas, operation.max_fee_per_gas),
        paymaster_and_data=_paymaster_and_data(operation),
        signature=operation.signature,
    )


def operation_hash(operation: UserOperation, *, entry_point: str, chain_id: int) -> bytes:
    """Return the operation's 32-byte hash, which the account signs.

    Raises UnknownEntryPoint; ValueError for the zero address as paymaster, for an EIP-7702 marker as factory, or for
    paymaster data whose suffix (v0.9) states a longer signature than there is.
    """
    known = entry_point_at(entry_point)
    if operation.paymaster is not None and not operation.sponsored:
        # EntryPoint 0.7 charges the account for such an operation, which looks as if it were sponsored.
        raise ValueError("the zero address is not a paymaster")
    if operation.factory == _EIP7702_FACTORY:
        # EntryPoint 0.8 replaces this EIP-7702 marker with the address of the account's delegate, which only the chain
        # knows.
        raise ValueError("EIP-7702 operations are not supported")
    address = _word(from_hex(known.address))
    packed = pack(operation)
    if known.hash_kind is HashKind.NESTED:
        return keccak256(keccak256(_hashed_fields(packed)) + address + _number(chain_id))
    if known.hash_kind is HashKind.UNSIGNED_SUFFIX:
        packed = replace(packed, paymaster_and_data=_signed_part(packed.paymaster_and_data))
    domain = keccak256(_DOMAIN_TYPE + _DOMAIN_NAME + _DOMAIN_VERSION + _number(chain_id) + address)
    return keccak256(b"\x19\x01" + domain + keccak256(_OPERATION_TYPE + _hashed_fields(packed)))


def _signed_part(data: bytes) -> bytes:
    """Return the paymaster data as EntryPoint 0.9 hashes it: without the paymaster's signature at its end."""
    available = len(data) - _PAYMASTER_HEAD_BYTES - _SUFFIX_BYTES
    if available < 0 or not data.endswith(SIGNATURE_MAGIC):
        return data
    length = int.from_bytes(data[-_SUFFIX_BYTES : -len(SIGNATURE_MAGIC)])
    if length > available:
        raise ValueError("the paymaster's signature is cut short")
    return data[: -_SUFFIX_BYTES - length] + SIGNATURE_MAGIC if length else data


def _hashed_fields(packed: PackedUserOperation) -> bytes:
    return b"".join(
        (
            _word(packed.sender),
            _number(packed.nonce),
            keccak256(packed.init_code),
            keccak256(packed.call_data),
            packed.account_gas_limits,
            _number(packed.pre_verification_gas),
            packed.gas_fees,
            keccak256(packed.paymaster_and_data),
        )
    )


def _paymaster_and_data(operation: UserOperation) -> bytes:
    if operation.paymaster is None:
        return b""
    limits = _halves(operation.paymaster_verification_gas_limit or 0, operation.paymaster_post_op_gas_limit or 0)
    return operation.paymaster + limits + (operation.paymaster_data or b"")


def _halves(high: int, low: int) -> bytes:
    return high.to_bytes(16) + low.to_bytes(16)


def _word(value: bytes) -> bytes:
    return value.rjust(32, b"\x00")


def _number(value: int) -> bytes:
    return value.to_bytes(32)
