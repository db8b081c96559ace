"""The local world's sponsor, which posts commitments, estimates gas, and signs for DevPaymaster.

The sponsor signs with a development account of the chain (`eth_sign`), so it works only on a local chain.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.chain import values
from holdfast.chain.bundler import Bundler, Margin
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.packed_operations import pack
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256
from holdfast.world.commitments import Commitments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.chain.packed_operations import PackedUserOperation
    from holdfast.chain.rpc import RpcClient
    from holdfast.world.anvil import LocalChain

PAYMASTER = from_hex(ADDRESSES["DevPaymaster"])
VALID_FOR_S = 3600
# Gas for DevPaymaster's validation (one ecrecover and two hashes), with a margin. It has no `postOp`.
_VERIFICATION_GAS, _POST_OP_GAS = 60_000, 1
_PLACEHOLDER = bytes(12) + b"\x11" * 64 + b"\x1b"


class Sponsor:
    """Responds to `pm_sponsorUserOperation` for a local chain, using gas estimates from Alto."""

    def __init__(self, chain: LocalChain, alto: RpcClient, account: str, chain_id: int) -> None:
        self._chain = chain
        self._alto = alto
        self._account = account
        self._chain_id = chain_id
        self._commitments = Commitments(chain, account)
        self._turn = asyncio.Lock()  # anvil chooses the nonces of the sponsor's transactions

    async def sponsor(
        self, form: Mapping[str, object], entry_point: str, context: Mapping[str, object] | None = None
    ) -> dict[str, str | None]:
        """Return the fields that complete the operation `form`.

        Raises ValueError for a malformed operation, ChainError.
        """
        operation = await self._with_fees(UserOperation.from_rpc(form))
        async with self._turn:
            await self._commitments.prepare(operation)
        bundler = Bundler(self._alto, entry_point=entry_point, chain_id=self._chain_id)
        operation = await bundler.estimated(_with_placeholder(operation), _margin(context or {}))
        paid = replace(operation, paymaster_data=await self._signature(operation, entry_point))
        given = paid.to_rpc()
        return {name: given[name] for name in _ANSWERED}

    async def _with_fees(self, operation: UserOperation) -> UserOperation:
        """Set the bundler's gas price in an operation without fees.

        Holdfast's proxy does not let clients request the bundler's gas price.
        """
        if operation.max_fee_per_gas:
            return operation
        fees = (await self._alto.call("pimlico_getUserOperationGasPrice"))["fast"]
        return replace(
            operation,
            max_fee_per_gas=values.quantity(fees["maxFeePerGas"]),
            max_priority_fee_per_gas=values.quantity(fees["maxPriorityFeePerGas"]),
        )

    async def pass_a_block(self, operation: UserOperation) -> None:
        """Mine a block if a commitment that the operation needs is in the newest block."""
        await self._commitments.pass_a_block(operation)

    async def _signature(self, operation: UserOperation, entry_point: str) -> bytes:
        validity = (await self._now() + VALID_FOR_S).to_bytes(6) + bytes(6)
        digest = sponsorship_hash(pack(operation), entry_point, self._chain_id, validity)
        return validity + values.data(await self._chain.rpc.call("eth_sign", [self._account, to_hex(digest)]), 65)

    async def _now(self) -> int:
        block = await self._chain.rpc.call("eth_getBlockByNumber", ["latest", False])
        return values.quantity(block["timestamp"])


_ANSWERED = (
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


def sponsorship_hash(packed: PackedUserOperation, entry_point: str, chain_id: int, validity: bytes) -> bytes:
    """Return the hash that the sponsor signs, which is the one that `DevPaymaster.getHash` returns.

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


def _with_placeholder(operation: UserOperation) -> UserOperation:
    return replace(
        operation,
        paymaster=PAYMASTER,
        paymaster_verification_gas_limit=_VERIFICATION_GAS,
        paymaster_post_op_gas_limit=_POST_OP_GAS,
        paymaster_data=_PLACEHOLDER,
    )


def _margin(context: Mapping[str, Any]) -> Margin:
    """Return the gas that a WebAuthn signer requests in addition to the estimate (`Bundler.sponsored`)."""
    asked = context.get("verificationGasMargin")
    return Margin(0 if asked is None else min(int(str(asked), 16), _GREATEST_MARGIN))


_GREATEST_MARGIN = 2_000_000
