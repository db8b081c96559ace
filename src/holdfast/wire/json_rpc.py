"""Reads a JSON-RPC 2.0 response object (sections 5 and 5.1), for the chain's client and the service's."""

from __future__ import annotations

from typing import Any

MAX_MESSAGE = 500


class MalformedResponse(ValueError):
    """The value is not a response object to the request."""


class ErrorResponse(Exception):
    """The response has an error object. `code` and `data` are as sent; `code` is None unless it is an integer."""

    def __init__(self, message: str | None, code: int | None, data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


def result_of(response: Any, request_id: int) -> Any:
    """Return the result of the request with that ID. Raises ErrorResponse, MalformedResponse."""
    if isinstance(response, dict) and response.get("error") is not None:
        raise _error_of(response["error"])  # an error is accepted without the version too, as some servers leave it out
    if not isinstance(response, dict) or response.get("jsonrpc") != "2.0":
        raise MalformedResponse("answer is not a JSON-RPC 2.0 object")
    if response.get("id") != request_id or isinstance(response.get("id"), bool):
        raise MalformedResponse("answer carries another id")
    if "result" not in response:
        raise MalformedResponse("answer carries no result")
    return response["result"]


def _error_of(error: Any) -> Exception:
    if not isinstance(error, dict):
        return MalformedResponse("answer carries a malformed error")
    code, message = error.get("code"), error.get("message")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    return ErrorResponse(None if message is None else str(message)[:MAX_MESSAGE], known, error.get("data"))
