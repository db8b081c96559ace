"""What can go wrong with an operation, and how the chain's errors become the client's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.chain.errors import ChainError, UserOperationError
from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import NetworkError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STALE = ("AA25", "AA10")  # ERC-4337: invalid nonce; sender already constructed


class RegistrationRefused(ServiceError):
    """The registration cannot go on. The message says why."""


class PaymentRefused(ServiceError):
    """The payment was not made: nothing was signed. The message says why."""


class OperationFailed(ServiceError):
    """The operation was refused, or was mined and failed. `reason` is the decoded revert, where there is one."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class AccountNotFunded(OperationFailed):
    """No sponsor pays and the account cannot. `address` is the account; `balance` and `needed` are wei."""

    def __init__(self, message: str, address: str, balance: int, needed: int) -> None:
        super().__init__(message)
        self.address, self.balance, self.needed = address, balance, needed


class GasTooDear(OperationFailed):
    """No sponsor pays, and the operation may cost more than `GasPolicy.max_own_cost_wei`."""


@contextmanager
def chain_errors() -> Iterator[None]:
    """Turns the chain's errors into the client's: failed operations and unreachable endpoints."""
    try:
        yield
    except UserOperationError as error:
        raise OperationFailed(str(error), error.reason) from error
    except ChainError as error:
        if isinstance(error.__cause__, RequestRefused):
            raise error.__cause__ from error  # the service's own no, such as RateLimited
        raise NetworkError(str(error)) from error


def is_stale(error: Exception) -> bool:
    """Whether an operation was refused because another one of the account came first."""
    return any(code in str(error) for code in _STALE)
