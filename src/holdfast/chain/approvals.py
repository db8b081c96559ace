"""What `VerifyingPaymaster` needs to pay for an operation: the approval that a service's key signs."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from holdfast.chain.contracts.paymasters import paymaster_of
from holdfast.chain.packed_operations import pack
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.packed_operations import PackedUserOperation
    from holdfast.chain.user_operations import UserOperation

# Gas for the paymaster's validation (one ecrecover and two hashes), with a margin. It has no `postOp`.
VERIFICATION_GAS, POST_OP_GAS = 60_000, 1
_PERSONAL = b"\x19Ethereum Signed Message:\n32"  # EIP-191
_PLACEHOLDER = bytes(12) + b"\x11" * 64 + b"\x1b"


# What a response to `pm_sponsorUserOperation` contains.
ANSWERED = (
    "paymaster",
    "paymasterData",
    "paymasterVerificationGasLimit",
    "paymasterPostOpGasLimit",
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
)
_GREATEST_MARGIN = 2_000_000


class Approver:
    """Signs approvals for the operations of one chain with a service's secp256k1 key, which no repr shows."""

    def __init__(self, key: PrivateKey, chain_id: int) -> None:
        self._key = key
        self._chain_id = chain_id

    @cached_property
    def address(self) -> str:
        """The key's address, which may withdraw the paymaster's deposit."""
        return str(self._key.public_key.to_checksum_address())

    @cached_property
    def paymaster(self) -> str:
        """The address of the key's paymaster, the same on every chain."""
        return paymaster_of(self.address).address

    def stubbed(self, operation: UserOperation) -> UserOperation:
        """Return the operation with paymaster data of the right length, for the estimate of its gas."""
        return replace(
            operation,
            paymaster=from_hex(self.paymaster),
            paymaster_verification_gas_limit=VERIFICATION_GAS,
            paymaster_post_op_gas_limit=POST_OP_GAS,
            paymaster_data=_PLACEHOLDER,
        )

    def approved(self, operation: UserOperation, entry_point: str, valid_until: int) -> UserOperation:
        """Return the operation with an approval of exactly these fields, until `valid_until` (Unix time).

        Only the account's signature may change afterwards. The paymaster's gas limits are always those of `stubbed`.
        """
        stub = self.stubbed(operation)
        validity = valid_until.to_bytes(6) + bytes(6)
        digest = approval_hash(pack(stub), entry_point, self._chain_id, validity)
        signature = self._key.sign_msg_hash(keccak256(_PERSONAL + digest))
        signed = signature.r.to_bytes(32) + signature.s.to_bytes(32) + bytes([27 + signature.v])
        return replace(stub, paymaster_data=validity + signed)


def margin_in(context: Mapping[str, object]) -> int:
    """Return the gas that a signer requests in addition to the estimate (`Bundler.sponsored`). Raises ValueError."""
    margin = context.get("verificationGasMargin")
    gas = 0 if margin is None else int(str(margin), 16)
    if gas < 0:
        raise ValueError("a margin cannot be negative")
    return min(gas, _GREATEST_MARGIN)


def approval_hash(packed: PackedUserOperation, entry_point: str, chain_id: int, validity: bytes) -> bytes:
    """Return the hash that is signed as an EIP-191 message, the one that `VerifyingPaymaster.getHash` returns.

    `validity`: validUntil ‖ validAfter, six bytes each.
    """
    operation = keccak256(
        _word(packed.sender)
        + packed.nonce.to_bytes(32)
        + keccak256(packed.init_code)
        + keccak256(packed.call_data)
        + packed.account_gas_limits
        + packed.paymaster_and_data[20:52]
        + packed.pre_verification_gas.to_bytes(32)
        + packed.gas_fees
    )
    addresses = _word(from_hex(entry_point)) + _word(packed.paymaster_and_data[:20])
    return keccak256(operation + chain_id.to_bytes(32) + addresses + _word(validity[:6]) + _word(validity[6:]))


def _word(value: bytes) -> bytes:
    return value.rjust(32, b"\x00")
