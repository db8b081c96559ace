"""Errors in communication between Holdfast and a chain.

ChainError
├── RpcError            the endpoint's response is an error, malformed, too short or late
│   ├── NoPaymaster     a sponsor's response contains no paymaster
│   └── TransportError  no usable HTTP response at all
│       └── AnswerTooLarge  more bytes than the transport accepts
├── UnknownEntryPoint   no hash is defined for this entry point
└── UserOperationError  an operation was refused, or mined and failed

No message contains an endpoint's address, which may contain an API key.
"""

from __future__ import annotations


class ChainError(Exception):
    """Base class of all errors that this package raises deliberately."""


class RpcError(ChainError):
    """A JSON-RPC response is an error, is malformed or too short, or arrived too late.

    `code` and `data` are those of the JSON-RPC error object (JSON-RPC 2.0 section 5.1), None for errors found here.
    `from_endpoint`: whether the message is the endpoint's own.
    """

    def __init__(
        self, message: str, code: int | None = None, data: object = None, *, from_endpoint: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.from_endpoint = from_endpoint or code is not None

    @property
    def in_our_words(self) -> str:
        """The error's text for logs, without the endpoint's message, which may contain an API key from the URL."""
        if not self.from_endpoint:
            return str(self)
        return "the endpoint answers with " + ("an error without a code" if self.code is None else f"error {self.code}")


def chain_words(error: RpcError | TimeoutError) -> str:
    """Return why a chain or bundler could not be asked, for logs: without the endpoint's message."""
    return error.in_our_words if isinstance(error, RpcError) else "no answer in time"


class TransportError(RpcError):
    """The endpoint returned no usable HTTP response. `status` is its HTTP status, None if the connection failed."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def kind(self) -> str:
        """The kind of error in one word, for statistics."""
        return "unreachable" if self.status is None else "refused"


class AnswerTooLarge(TransportError):
    """The endpoint's response is longer than the transport accepts; a retry would get the same response."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"answer over {most_bytes} bytes")


class NoPaymaster(RpcError):
    """The response of the sponsor or paymaster service contains no paymaster, so no one pays for the gas."""


class UnknownEntryPoint(ChainError):
    """The entry point is unknown, so an operation's hash, which depends on the entry point, cannot be computed."""


class UserOperationError(ChainError):
    """A user operation was refused, or failed on the chain. `reason` is the decoded revert, or None."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message if reason is None else f"{message}: {reason}")
        self.reason = reason


class NoReceipt(UserOperationError):
    """The operation was not mined in time. It may still be mined."""
