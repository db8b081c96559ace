"""Traces with OpenTelemetry's SDK, sent by OTLP over HTTP. Needs the extra `otel`.

The SDK reads the standard environment variables itself (OpenTelemetry specification, "Environment Variable
Specification"), and one of its threads sends the spans. While the collector cannot be reached, spans wait in a queue of
limited size; when the queue is full, further spans are dropped.
"""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import holdfast
from holdfast.service.telemetry import metrics
from holdfast.wire.logs import Sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from holdfast.service.telemetry.tracing import Attributes, TraceContext

_MAX_LINKS = 32  # per batch; more would add no information
_log = logging.getLogger("holdfast.traces")
_log.addFilter(Sparse(limit=1, every_s=300.0))
_PROPAGATOR = TraceContextTextMapPropagator()


class CountingExporter(SpanExporter):
    """Counts the spans that another exporter sends or loses, and logs a failure at most every five minutes.

    The SDK's loggers are silenced, because their messages quote the collector's URL, which may contain a key.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        result = self._exporter.export(spans)
        sent = result is SpanExportResult.SUCCESS
        metrics.SPANS.add("sent" if sent else "lost", by=len(spans))
        if not sent:
            _log.warning("traces lost: the collector did not take them", extra={"count": len(spans)})
        return result

    def shutdown(self) -> None:
        """Shut the other exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the other exporter."""
        return self._exporter.force_flush(timeout_millis)


class _Span:
    """See tracing.Span."""

    __slots__ = ("_span", "failed")

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self.failed = False

    def note(self, name: str, value: str | int) -> None:
        self._span.set_attribute(name, value)

    def fail(self, reason: str) -> None:
        self.failed = True
        self._span.set_status(trace.Status(trace.StatusCode.ERROR))
        self._span.set_attribute("error.type", reason)


class OtlpBackend:
    """See tracing.Backend. Each process creates its backend after the fork."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        # With `shutdown_on_exit`, an ending process would wait for an unreachable collector.
        self._provider = TracerProvider(resource=_resource(os.environ), shutdown_on_exit=False)
        self._processor = BatchSpanProcessor(CountingExporter(exporter or OTLPSpanExporter()))
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("holdfast", holdfast.__version__)

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str], attributes: Attributes) -> Iterator[_Span]:
        """See tracing.Backend."""
        # The empty context keeps the current span of the server's task from becoming this request's parent.
        context = _PROPAGATOR.extract(headers, context=Context())
        with self._begun(name, context=context, kind=trace.SpanKind.SERVER, attributes=attributes) as span:
            yield span

    @contextmanager
    def inner(self, name: str, attributes: Attributes, *, calls_out: bool) -> Iterator[_Span]:
        """See tracing.Backend."""
        kind = trace.SpanKind.CLIENT if calls_out else trace.SpanKind.INTERNAL
        with self._begun(name, kind=kind, attributes=attributes) as span:
            yield span

    def batch(self, name: str, of: Iterable[TraceContext], attributes: Attributes) -> Any:
        """See tracing.Backend."""
        spans: list[Any] = list(of)
        if not spans:
            return None
        parent = trace.set_span_in_context(trace.NonRecordingSpan(spans[0]), Context())
        links = [trace.Link(one) for one in spans[1 : _MAX_LINKS + 1]]
        return self._begun(name, context=parent, kind=trace.SpanKind.CLIENT, attributes=attributes, links=links)

    def present(self) -> TraceContext | None:
        """See tracing.Backend."""
        span = trace.get_current_span()
        return span.get_span_context() if span.is_recording() else None

    def outgoing(self) -> Mapping[str, str]:
        """See tracing.Backend."""
        headers: dict[str, str] = {}
        _PROPAGATOR.inject(headers)
        return headers

    def close(self, within_s: float) -> None:
        """See tracing.Backend. Call this in a thread, because it blocks."""
        self._processor._batch_processor.shutdown(int(within_s * 1000))  # noqa: SLF001 - the public method waits for 30 s

    @contextmanager
    def _begun(self, name: str, **given: Any) -> Iterator[_Span]:
        # Exceptions are not recorded, because their messages may quote identifiers.
        with self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False, **given
        ) as span:
            wrapped = _Span(span)
            try:
                yield wrapped
            except Exception as error:
                if not wrapped.failed:
                    wrapped.fail(type(error).__name__)
                raise


def _resource(environment: Mapping[str, str]) -> Resource:
    """Return the attributes that describe this process. The operator may set a service name other than `holdfast`."""
    named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    ours = {"service.version": holdfast.__version__}
    return Resource.create(ours if named else {**ours, "service.name": "holdfast"})
