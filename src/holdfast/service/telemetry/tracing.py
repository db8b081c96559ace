"""Creates trace spans for code that need not know whether traces are enabled.

`otlp.py` creates them with OpenTelemetry.

While traces are disabled, which is the default, every span is the same inactive object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

Attributes = dict[str, str | int]
TraceContext = object  # identifies a span; only the backend reads it


class Span(Protocol):
    """A span that was started."""

    def note(self, name: str, value: str | int) -> None:
        """Set an attribute, which must not contain an identifier, code, address or token."""
        ...

    def fail(self, reason: str) -> None:
        """Mark the span as failed; the reason is one of a few fixed words."""
        ...


class Backend(Protocol):
    """Creates spans and sends them."""

    def request(self, name: str, headers: Mapping[str, str], attributes: Attributes) -> AbstractContextManager[Span]:
        """Start a request's span. `headers` contains a trusted proxy's `traceparent` and `tracestate`, or is empty."""
        ...

    def inner(self, name: str, attributes: Attributes, *, calls_out: bool) -> AbstractContextManager[Span]:
        """Start a span within the current span; `calls_out` says whether the new span waits for another server."""
        ...

    def batch(
        self, name: str, of: Iterable[TraceContext], attributes: Attributes
    ) -> AbstractContextManager[Span] | None:
        """Start a span for work done for several requests; None if none of their traces is recorded."""
        ...

    def present(self) -> TraceContext | None:
        """Return the current span's context, for `batch`; None if the span is not recorded."""
        ...

    def outgoing(self) -> Mapping[str, str]:
        """Return the headers that tell another server which span calls it."""
        ...

    def close(self, within_s: float) -> None:
        """Send the remaining spans, for at most this many seconds, then stop."""
        ...


class _NoSpan:
    def __enter__(self) -> Span:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def note(self, name: str, value: str | int) -> None:
        """See Span."""

    def fail(self, reason: str) -> None:
        """See Span."""


_NO_SPAN = _NoSpan()
_backend: Backend | None = None


def install(backend: Backend | None) -> None:
    """Use this backend for all spans from now on; None disables traces."""
    global _backend  # noqa: PLW0603 - one choice of the whole process
    _backend = backend


def backend() -> Backend | None:
    """Return the backend that creates spans; None while traces are disabled."""
    return _backend


def inner(name: str, attributes: Attributes | None = None, *, calls_out: bool = False) -> AbstractContextManager[Span]:
    """Start a span within the current span."""
    return _NO_SPAN if _backend is None else _backend.inner(name, attributes or {}, calls_out=calls_out)


def batch(name: str, of: Iterable[TraceContext | None], attributes: Attributes) -> AbstractContextManager[Span]:
    """Start a span for work of several requests: a child of the first request's span, linked to the others' spans."""
    if _backend is None:
        return _NO_SPAN
    return _backend.batch(name, [one for one in of if one is not None], attributes) or _NO_SPAN


def present() -> TraceContext | None:
    """Return the current span's context, for `batch`; None if the span is not recorded."""
    return None if _backend is None else _backend.present()


def outgoing() -> Mapping[str, str]:
    """Return the headers that tell another server which span calls it; none while traces are disabled."""
    return {} if _backend is None else _backend.outgoing()
