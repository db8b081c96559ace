"""A paymaster asked directly, as ERC-7677 has it: stub data for the estimate, then data for the operation as signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.bundler import RAW, Margin, merged, refusal
from holdfast.chain.errors import NoPaymaster, RpcError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.chain.bundler import Bundler
    from holdfast.chain.reverts import ErrorAbi
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation

# What an answer may set: never what the operation does, or for whom.
_SETTABLE = frozenset({"paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"})
_UNASKED = _SETTABLE | {"signature"}


@dataclass(frozen=True, slots=True)
class Stub:
    """An operation with a paymaster's placeholder. `is_final`: the data is already what the chain will accept."""

    operation: UserOperation
    is_final: bool


class Paymaster:
    """A paymaster service for one entry point of one chain. `context` is what it was agreed to be told (ERC-7677)."""

    def __init__(
        self,
        rpc: RpcClient,
        *,
        entry_point: str,
        chain_id: int,
        context: Mapping[str, Any] | None = None,
        errors: Iterable[ErrorAbi] = (),
    ) -> None:
        self._rpc = rpc
        self._suffix = [entry_point, hex(chain_id), dict(context or {})]
        self._errors = tuple(errors)

    async def paid(self, operation: UserOperation, bundler: Bundler, margin: Margin = RAW) -> UserOperation:
        """The operation with limits and a paymaster that pays for it; its fees must be set already.

        Raises:
            UserOperationError: The paymaster or the bundler's estimate refused.
            NoPaymaster: The answer names no paymaster.
            RpcError: No usable answer.
        """
        stub = await self.stub(operation)
        estimated = await bundler.estimated(stub.operation, margin)
        return estimated if stub.is_final else await self.final(estimated)

    async def stub(self, operation: UserOperation) -> Stub:
        """`pm_getPaymasterStubData`: data of the right length, for estimates."""
        answer = await self._ask("pm_getPaymasterStubData", operation)
        return Stub(_paid_by(operation, answer), answer.get("isFinal") is True)

    async def final(self, operation: UserOperation) -> UserOperation:
        """`pm_getPaymasterData`: the data for an operation that will not change any more but for its signature."""
        return _paid_by(operation, await self._ask("pm_getPaymasterData", operation))

    async def _ask(self, method: str, operation: UserOperation) -> dict[str, Any]:
        form = {name: value for name, value in operation.to_rpc().items() if value is not None}
        asked = {name: value for name, value in form.items() if name not in _UNASKED}
        try:
            answer = await self._rpc.call(method, [asked, *self._suffix])
        except RpcError as error:
            if error.code is None:
                raise
            raise refusal(error, self._errors) from error
        if not isinstance(answer, dict):
            raise RpcError("answer is not an object of paymaster fields")
        return answer


def _paid_by(operation: UserOperation, answer: dict[str, Any]) -> UserOperation:
    paid = merged(operation, answer, _SETTABLE)
    if paid.paymaster is None:
        raise NoPaymaster("the paymaster's answer names no paymaster")
    return paid
