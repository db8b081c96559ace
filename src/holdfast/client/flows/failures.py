"""Errors in registrations and payments, and the conversion of the chain package's errors into them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from holdfast.chain.errors import ChainError, NoPaymaster, UserOperationError
from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import NetworkError, ServiceError
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

# Whole words, because an address may contain the same letters.
_STALE, _NO_MONEY = (re.compile(rf"\b(?:{'|'.join(it)})\b") for it in (OPERATIONS.stale, OPERATIONS.no_money))


class RegistrationRefused(ServiceError):
    """The registration cannot continue. The message says why."""


class PaymentRefused(ServiceError):
    """The payment was refused before anything was signed. The message says why.

    `code`: "payee_unregistered", "payee_unverified", "delegation", or the enclave's code for an invalid delegation.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class OperationFailed(ServiceError):
    """The user operation was refused, or was mined but failed.

    Attributes:
        reason: the decoded revert, if any.
        earlier: what became of an earlier operation, because of which nothing was signed now: "mined" if it made the
            same call, "unknown" if its nonce is used without a receipt, "" if there was none.
    """

    def __init__(self, message: str, reason: str | None = None, earlier: Literal["", "mined", "unknown"] = "") -> None:
        super().__init__(message)
        self.reason, self.earlier = reason, earlier


class AccountNotFunded(OperationFailed):
    """The account's balance is too low for the payment, or for a fee that no sponsor pays.

    `address` is the account. `token` is what it lacks: "native", or an ERC-20 address; `balance` and `needed` are in
    the smallest unit of `token` (wei for "native").
    """

    def __init__(self, message: str, address: str, balance: int, needed: int, token: str = "native") -> None:  # noqa: S107 - facts of one error; a currency
        super().__init__(message)
        self.address, self.balance, self.needed, self.token = address, balance, needed, token


class GasTooDear(OperationFailed):
    """No sponsor pays for the user operation, and it could cost more than `GasPolicy.max_own_cost_wei`."""


@contextmanager
def chain_errors() -> Iterator[None]:
    """Convert the chain package's errors to the client's: failed operations and unreachable endpoints."""
    try:
        yield
    except UserOperationError as error:
        raise OperationFailed(str(error), error.reason) from error
    except NoPaymaster as error:
        raise OperationFailed(str(error)) from error
    except ChainError as error:
        if isinstance(error.__cause__, RequestRefused):
            raise error.__cause__ from error  # a refusal by the service itself, such as RateLimited
        raise NetworkError(str(error)) from error


def is_stale(error: Exception) -> bool:
    """Return whether the operation was refused because the account is in another state than its nonce says."""
    return _STALE.search(str(error)) is not None


def lacks_money(error: Exception) -> bool:
    """Return whether the operation was refused because the account has less than it may cost."""
    return _NO_MONEY.search(str(error)) is not None
