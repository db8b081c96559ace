"""Steps for sending a user operation: have it sponsored or estimate its gas, sign and send it, and await its receipt.

Addresses and keys are passed in by the caller. The bundler is reached through an RpcClient, such as one for Holdfast's
own `/api/bundler`. The signer is a coroutine function that takes 32 bytes and returns a signature.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.chain import values
from holdfast.chain.errors import NoPaymaster, NoReceipt, RpcError, UserOperationError
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.reverts import decode_revert
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.reverts import ErrorAbi
    from holdfast.chain.rpc import RpcClient

RECEIPT_WITHIN_S = 60.0
# A selector and whole words, as Solidity encodes errors, so an address at the end of a message is not taken for one.
_REVERT_DATA = re.compile(r"0x([0-9a-f]{8}(?:[0-9a-f]{64})*)$")
# How anvil renders revert data in a message, followed by its unescaped bytes.
_NODES_READING = re.compile(r": custom error 0x[0-9a-f]{8}.*", re.DOTALL)
_FIRST_LOOK_S, _SLOWEST_LOOK_S = 0.05, 1.0
_MOST_GAS = 2**128 - 1  # of a limit in the packed form
# Alto estimates a sponsored operation after the queued ones of the same paymaster, in one call, so storage that those
# have read costs less. It costs the full price if they are mined before. A registration then lacked 7,324 gas.
_READ_BEFORE_GAS = 20_000

# A well-formed signature with a low s, so that gas estimation runs all of the curve arithmetic before rejecting it.
PLACEHOLDER_SIGNATURE = bytes.fromhex("7f" * 32 + "3f" * 32)


class Signer(Protocol):
    """Signs an operation's hash. The signature is 64 bytes, r ‖ s with a low s, or an encoded WebAuthn assertion."""

    async def __call__(self, digest: bytes) -> bytes:
        """Return the signature over the 32-byte `digest`, which must not be hashed again."""
        ...


@dataclass(frozen=True, slots=True)
class OperationReceipt:
    """A mined operation. The gas cost is in wei; `reason` is the decoded revert reason if the operation failed."""

    operation_hash: bytes
    transaction_hash: bytes
    block_number: int
    actual_gas_used: int
    actual_gas_cost: int
    succeeded: bool = True
    reason: str | None = None


class Bundler:
    """An ERC-4337 bundler, optionally with a sponsor, for one entry point of one chain."""

    def __init__(self, rpc: RpcClient, *, entry_point: str, chain_id: int, errors: Iterable[ErrorAbi] = ()) -> None:
        self._rpc = rpc
        self.entry_point = entry_point
        self.chain_id = chain_id
        self._errors = tuple(errors)

    async def send_sponsored(
        self,
        operation: UserOperation,
        signer: Signer,
        margin: int = 0,
        context: Mapping[str, object] | None = None,
    ) -> bytes:
        """Have the operation sponsored, sign it, send it, and return its hash. Raises UserOperationError, RpcError."""
        return await self.send(await self.signed(await self.sponsored(operation, margin, context), signer))

    async def sponsored(
        self, operation: UserOperation, margin: int = 0, context: Mapping[str, object] | None = None
    ) -> UserOperation:
        """Return the operation with the gas limits and paymaster fields that the sponsor set.

        Raises if `pm_sponsorUserOperation` refuses. The margin is sent with the request, because the sponsor signs the
        gas limits, which must not change afterwards.
        """
        request = _for_estimation(operation).to_rpc()
        extra = {"verificationGasMargin": hex(margin)} if margin else {}
        parameters = [request, self.entry_point, *([{**(context or {}), **extra}] if context or extra else [])]
        sponsored = merged(operation, await self._ask("pm_sponsorUserOperation", parameters), _SPONSORS)
        if not sponsored.sponsored:
            # Without a paymaster, the account itself would pay for the signed operation, contrary to its owner's
            # intention.
            raise NoPaymaster("the sponsor named no paymaster")
        return sponsored

    async def estimated(self, operation: UserOperation, margin: int = 0) -> UserOperation:
        """Return the operation with the bundler's gas limits plus `margin`. Its fees do not change.

        If a paymaster pays, the call may use more than was estimated, and the bundler's estimates are used for the
        paymaster's gas limits if it did not set them.
        """
        request = _for_estimation(operation).to_rpc()
        answer = await self._ask("eth_estimateUserOperationGas", [request, self.entry_point])
        estimated = merged(operation, answer, _ESTIMATES | _missing_paymaster_limits(operation))
        return replace(
            estimated,
            verification_gas_limit=min(estimated.verification_gas_limit + margin, _MOST_GAS),
            call_gas_limit=min(estimated.call_gas_limit + _READ_BEFORE_GAS * operation.sponsored, _MOST_GAS),
        )

    async def signed(self, operation: UserOperation, signer: Signer) -> UserOperation:
        """Return the operation with the account's signature."""
        return operation.signed(await signer(self.hash(operation)))

    def hash(self, operation: UserOperation) -> bytes:
        """Return the operation's hash, which the account signs."""
        return operation_hash(operation, entry_point=self.entry_point, chain_id=self.chain_id)

    async def send(self, operation: UserOperation) -> bytes:
        """Send the signed operation once and return its hash. Raises UserOperationError if it is refused."""
        expected = self.hash(operation)
        answer = await self._ask("eth_sendUserOperation", [operation.to_rpc(), self.entry_point])
        if values.data(answer, 32) != expected:
            raise RpcError("the bundler's operation hash differs from ours")
        return expected

    async def wait(self, operation_hash: bytes, within_s: float = RECEIPT_WITHIN_S) -> OperationReceipt:
        """Wait for the receipt.

        Raises UserOperationError if the operation failed, NoReceipt if it was not mined in time.
        """
        try:
            async with asyncio.timeout(within_s):
                answer = await self._look_until_found(operation_hash)
        except TimeoutError:
            raise NoReceipt(f"no receipt of the operation within {within_s:g} s") from None
        if answer.get("success") is not True:
            raise UserOperationError("the operation was mined and failed", self._reason(answer))
        return self._read(answer, operation_hash)

    async def receipt(self, operation_hash: bytes) -> OperationReceipt | None:
        """Return the receipt of an operation, whether successful or failed, or None until the operation is mined.

        Raises RpcError.
        """
        answer = await self._look(operation_hash)
        return None if answer is None else self._read(answer, operation_hash)

    async def _look_until_found(self, operation_hash: bytes) -> dict[str, Any]:
        pause = _FIRST_LOOK_S
        while (answer := await self._look(operation_hash)) is None:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _SLOWEST_LOOK_S)
        return answer

    async def _look(self, operation_hash: bytes) -> dict[str, Any] | None:
        answer = await self._rpc.call("eth_getUserOperationReceipt", [to_hex(operation_hash)])
        if answer is None:
            return None
        if not isinstance(answer, dict):
            raise RpcError("answer is not an operation receipt")
        if values.data(answer.get("userOpHash"), 32) != operation_hash:
            raise RpcError("answer is another operation's receipt")
        return answer

    def _read(self, answer: dict[str, Any], operation_hash: bytes) -> OperationReceipt:
        transaction = answer.get("receipt")
        succeeded = answer.get("success") is True
        return OperationReceipt(
            operation_hash=operation_hash,
            transaction_hash=values.data(values.field(transaction, "transactionHash"), 32),
            block_number=values.count(values.field(transaction, "blockNumber")),
            actual_gas_used=values.count(answer.get("actualGasUsed")),
            actual_gas_cost=values.quantity(answer.get("actualGasCost")),
            succeeded=succeeded,
            reason=None if succeeded else self._reason(answer),
        )

    def _reason(self, answer: dict[str, Any]) -> str:
        try:
            return decode_revert(values.data(answer.get("reason") or "0x"), self._errors)
        except RpcError:
            return values.printable(str(answer["reason"])[:300])

    async def _ask(self, method: str, parameters: list[Any]) -> Any:
        try:
            return await self._rpc.call(method, parameters)
        except RpcError as error:
            if error.code is None:
                raise
            raise refusal(error, self._errors) from error


def refusal(error: RpcError, errors: Iterable[ErrorAbi] = ()) -> UserOperationError:
    """Convert the error object from a bundler or paymaster to a UserOperationError.

    The error's `data` is the revert data, or an object that contains it. Alto appends the revert data to the message.
    """
    found = _REVERT_DATA.search(_error_text(error.data)) or _REVERT_DATA.search(str(error))
    if found is None:
        return UserOperationError(f"refused: {error}")
    words = _NODES_READING.sub("", str(error).removesuffix(found[0]).removesuffix(" with reason: "))
    return UserOperationError(f"refused: {words}", decode_revert(bytes.fromhex(found[1]), errors))


def _error_text(data: Any) -> str:
    """Return the revert data from an error's `data`: a string, or an object with `revertData`, `reason` or `data`."""
    if not isinstance(data, dict):
        return str(data)
    texts = (str(data[name]) for name in ("revertData", "reason", "data") if data.get(name))
    return next((text for text in texts if _REVERT_DATA.search(text)), "")


def _for_estimation(operation: UserOperation) -> UserOperation:
    return operation if operation.signature else operation.signed(PLACEHOLDER_SIGNATURE)


def merged(operation: UserOperation, answer: object, settable: frozenset[str]) -> UserOperation:
    """Return `operation` updated with the response's `settable` fields, which never include sender, call data or nonce.

    Raises RpcError if the response is not an object, or a value has the wrong form.
    """
    if not isinstance(answer, dict):
        raise RpcError("answer is not an object of gas limits")
    chosen = {name: value for name, value in answer.items() if name in settable and value is not None}
    if operation.paymaster is None and "paymaster" not in chosen:
        chosen = {name: value for name, value in chosen.items() if not name.startswith("paymaster")}
    try:
        return UserOperation.from_rpc({**operation.to_rpc(), **chosen})
    except ValueError as error:
        raise RpcError(f"answer does not fit the operation: {error}") from error


def _missing_paymaster_limits(operation: UserOperation) -> frozenset[str]:
    if operation.paymaster is None:
        return frozenset()
    given = {
        "paymasterVerificationGasLimit": operation.paymaster_verification_gas_limit,
        "paymasterPostOpGasLimit": operation.paymaster_post_op_gas_limit,
    }
    return frozenset(name for name, value in given.items() if value is None)


_ESTIMATES = frozenset({"callGasLimit", "verificationGasLimit", "preVerificationGas"})
_SPONSORS = _ESTIMATES | {
    "maxFeePerGas",
    "maxPriorityFeePerGas",
    "paymaster",
    "paymasterVerificationGasLimit",
    "paymasterPostOpGasLimit",
    "paymasterData",
}
