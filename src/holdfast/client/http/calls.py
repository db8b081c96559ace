"""HTTP requests as values, with the functions that parse their responses. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from holdfast.chain.values import printable
from holdfast.client.http.refusals import RequestRefused, refusal_class
from holdfast.client.types.base import decode_hook
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.retries import LATE, NO_ANSWER, REQUESTS, SUCCESS, Rule

T = TypeVar("T")
Reader = Callable[["Reply"], T]

MAX_ANSWER_BYTES = 32 * 1024 * 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110 section 9.2.1
_FIRST_REFUSAL = 400
_LONGEST_TEXT = 500


class AnswerLate(NetworkError):
    """The response did not arrive within the time limit."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete HTTP response. Header names are lower-cased."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """A request and the function that parses its response. `base_url` overrides the client's service.

    `body` is sent as JSON, `content` unchanged, with the Content-Type given in `headers`.
    `longest` is the maximum size of the response in bytes. `redirects` is how many redirects to https are followed, for
    content that is verified whatever server sends it.
    `only_reads`: a POST that changes nothing, such as a JSON-RPC read.
    `named` calls are sent with an `Idempotency-Key`, so that repeating one has no second effect.
    """

    method: str
    path: str
    read: Reader[T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    base_url: str | None = None
    named: bool = False
    longest: int | None = None
    redirects: int = 0
    only_reads: bool = False

    @property
    def is_safe(self) -> bool:
        """Whether the request changes nothing, so that it may be repeated."""
        return self.only_reads or self.method in SAFE_METHODS


@dataclass(frozen=True, slots=True)
class Retries:
    """How often failed requests are repeated. The delay doubles from `first_s` up to `longest_s` seconds.

    Requests that change nothing are sent up to `attempts` times in all. Other requests are sent again only with the
    same `Idempotency-Key`: once if the response was lost, and up to the same limit while the service is still
    processing the first request.

    A Retry-After header is obeyed up to `longest_s` seconds. If Retry-After demands a longer wait, the refusal is
    raised immediately.
    """

    attempts: int = REQUESTS.attempts
    first_s: float = REQUESTS.first_s
    longest_s: float = REQUESTS.longest_s

    def delay_s(self, call: Call[T], error: NetworkError, attempt: int) -> float | None:
        """Return the number of seconds until the next attempt, or None if `error` is final. `attempt` counts from 1."""
        rule = _rule(call, error)
        if rule is None or attempt >= self.attempts or (rule.most is not None and attempt > rule.most):
            return None
        after = error.retry_after_s if isinstance(error, RequestRefused) else None
        wait = max(self.first_s * 2.0 ** (attempt - 1), after or 0.0)
        return wait if wait <= self.longest_s else None


def _rule(call: Call[T], error: NetworkError) -> Rule | None:
    names = {LATE if isinstance(error, AnswerLate) else NO_ANSWER}
    if isinstance(error, RequestRefused):
        names = {error.code, str(error.status)}
    request = "reads" if call.is_safe else "keyed" if call.named else ""
    return next((it for it in REQUESTS.rules if it.request == request and not names.isdisjoint(it.errors)), None)


def result(call: Call[T], reply: Reply) -> T:
    """Return the response's value. Raises RequestRefused for a refusal, NetworkError for an undocumented response."""
    if reply.status >= _FIRST_REFUSAL:
        raise refusal(reply)
    if reply.status not in SUCCESS:
        raise NetworkError(f"{call.path} answered with status {reply.status}")
    try:
        return call.read(reply)
    except (ValueError, RecursionError) as error:
        raise NetworkError(f"{call.path} did not answer in the documented form") from error


def refusal(reply: Reply) -> RequestRefused:
    """Return the typed error for a response with a status of 400 or above."""
    code, details = _code(reply.content)
    code = code or f"http_{reply.status}"
    return refusal_class(code, reply.status)(
        code,
        reply.status,
        retry_after_s=_seconds(reply.headers.get("retry-after")),
        request_id=reply.headers.get("x-request-id"),
        details=details,
    )


def as_type(kind: type[T]) -> Reader[T]:
    """Return a function that parses JSON responses into the given type."""
    return lambda reply: msgspec.json.decode(reply.content, type=kind, dec_hook=decode_hook)


def as_json(reply: Reply) -> Any:
    """Return the JSON value of the response, whatever its type."""
    return msgspec.json.decode(reply.content)


def as_bytes(reply: Reply) -> bytes:
    """Return the response body."""
    return reply.content


def as_text(reply: Reply) -> str:
    """Return the response body, decoded as UTF-8."""
    return reply.content.decode()


def _code(content: bytes) -> tuple[str | None, str | None]:
    """Return the code and the human-readable text of an error body in Holdfast's form or the Pinning Service API's."""
    try:
        error = msgspec.json.decode(content)["error"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None, None
    if isinstance(error, dict):
        return _text(error.get("reason")), _text(error.get("details"))
    return _text(error), None


def _text(value: object) -> str | None:
    return printable(value[:_LONGEST_TEXT]) if isinstance(value, str) else None


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isascii() and header.isdigit() else None
