"""Parses JSON-RPC 2.0: requests that will be forwarded (section 4), and response objects (sections 5 and 5.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MAX_MESSAGE = 500
# The methods for which a bundler or paymaster charges the operator. All other methods only read.
CHARGED = frozenset({"eth_sendUserOperation", "pm_sponsorUserOperation"})
_IDS = (str, int, float, type(None))
_PARAMS = (list, dict)


class MalformedRequest(ValueError):
    """The body is not a single request object. Batches are not accepted."""


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request, whose `id` and `params` have not been checked yet.

    Attributes:
        method: its method.
        fields: all its fields; of two with one name the last.
    """

    method: str
    fields: dict[str, Any]

    @property
    def id(self) -> object:
        """The request's `id`, which the response repeats, or None if it is absent."""
        return self.fields.get("id")

    @property
    def params(self) -> object:
        """The request's parameters, or None if they are absent."""
        return self.fields.get("params")

    def written_anew(self) -> bytes:
        """Return the request, written anew in a form that may be forwarded.

        Raises MalformedRequest for a malformed `id` or `params`. Only `jsonrpc`, `id`, `method` and `params` are
        written, each once. Some JSON parsers use the first of two equal names, and others ignore case. If a request had
        a second `method` or a `METHOD`, such parsers would execute a method other than the one that was checked.
        """
        if type(self.id) not in _IDS or type(self.fields.get("params", [])) not in _PARAMS:
            raise MalformedRequest("id or params is of another type than JSON-RPC 2.0 allows")
        anew = {"jsonrpc": "2.0"} | {
            name: self.fields[name] for name in ("id", "method", "params") if name in self.fields
        }
        try:
            return json.dumps(anew, allow_nan=False).encode()  # 1e999 is parsed as infinity, which JSON cannot express
        except (ValueError, RecursionError):
            raise MalformedRequest("a number or the depth is more than JSON can say") from None


def request_of(body: bytes) -> Request:
    """Parse the request in a body. Raises MalformedRequest."""
    try:
        fields = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MalformedRequest("the body is not JSON") from None
    if type(fields) is not dict or type(fields.get("method")) is not str:
        raise MalformedRequest("the body is not one request object with a method")
    return Request(fields["method"], fields)


def _refuse_constant(_name: str) -> Any:
    raise ValueError("NaN and Infinity are not JSON")


class MalformedResponse(ValueError):
    """The value is not a valid response object for the request."""


class ErrorResponse(Exception):
    """The response contains an error object. `code` and `data` are as sent; `code` is None unless it is an integer."""

    def __init__(self, message: str, code: int | None, data: object) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


def result_of(response: object, request_id: int) -> object:
    """Return the result from the response to the request with this ID. Raises ErrorResponse, MalformedResponse."""
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
    said = message if isinstance(message, str) else "the request was refused"
    return ErrorResponse(said[:MAX_MESSAGE], known, error.get("data"))
