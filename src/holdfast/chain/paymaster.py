"""A client for a paymaster service (ERC-7677), which returns stub data for the gas estimate and then the final data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.bundler import merged, refusal
from holdfast.chain.errors import NoPaymaster, RpcError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.bundler import Bundler
    from holdfast.chain.reverts import ErrorAbi
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation

# The fields of an operation that a response may set, which never include sender, call data or nonce.
_SETTABLE = frozenset({"paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"})
_UNASKED = _SETTABLE | {"signature"}


@dataclass(frozen=True, slots=True)
class Stub:
    """An operation with stub paymaster data. `is_final`: the data is final already."""

    operation: UserOperation
    is_final: bool


class Paymaster:
    """A paymaster service for one entry point of one chain. `context` is passed to it with each request (ERC-7677)."""

    def __init__(
        self,
        rpc: RpcClient,
        *,
        entry_point: str,
        chain_id: int,
        context: Mapping[str, object] | None = None,
        errors: Iterable[ErrorAbi] = (),
    ) -> None:
        self._rpc = rpc
        self._suffix = [entry_point, hex(chain_id), dict(context or {})]
        self._errors = tuple(errors)

    async def paid(self, operation: UserOperation, bundler: Bundler, margin: int = 0) -> UserOperation:
        """Return the operation with gas limits and the data of a paymaster that has agreed to pay.

        The operation's fees must already be set.

        Raises:
            UserOperationError: The paymaster or the bundler's estimate refused.
            NoPaymaster: The response contains no paymaster.
            RpcError: No usable response arrived.
        """
        stub = await self.stub(operation)
        estimated = await bundler.estimated(stub.operation, margin)
        return estimated if stub.is_final else await self.final(estimated)

    async def stub(self, operation: UserOperation) -> Stub:
        """Call `pm_getPaymasterStubData`, which returns placeholder data of the right length for gas estimation."""
        answer = await self._ask("pm_getPaymasterStubData", operation)
        return Stub(_paid_by(operation, answer), answer.get("isFinal") is True)

    async def final(self, operation: UserOperation) -> UserOperation:
        """Call `pm_getPaymasterData` for an operation in which only the signature will change afterwards."""
        return _paid_by(operation, await self._ask("pm_getPaymasterData", operation))

    async def _ask(self, method: str, operation: UserOperation) -> dict[str, Any]:
        form = {name: value for name, value in operation.to_rpc().items() if value is not None}
        fields = {name: value for name, value in form.items() if name not in _UNASKED}
        try:
            answer = await self._rpc.call(method, [fields, *self._suffix])
        except RpcError as error:
            if error.code is None:
                raise
            raise refusal(error, self._errors) from error
        if not isinstance(answer, dict):
            raise RpcError("answer is not an object of paymaster fields")
        return answer


def _paid_by(operation: UserOperation, answer: dict[str, Any]) -> UserOperation:
    paid = merged(operation, answer, _SETTABLE)
    if not paid.sponsored:
        raise NoPaymaster("the paymaster's answer names no paymaster")
    return paid
