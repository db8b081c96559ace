"""A trace collector on a loopback socket; it decodes requests with OpenTelemetry's own protobuf messages."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.support.http_servers import Handler, http_server


@dataclass
class Collector:
    """The received spans, the resource attributes of their senders, and the requests' headers and bodies."""

    url: str = ""
    spans: list[Any] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def take(self, headers: dict[str, str], body: bytes) -> None:
        raw = gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body
        for sent in ExportTraceServiceRequest.FromString(raw).resource_spans:
            self.resources.append(attributes(sent.resource))
            self.spans += [span for scope in sent.scope_spans for span in scope.spans]
        self.headers.append(headers)
        self.bodies.append(raw)

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


def attributes(holder: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in holder.attributes}


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Taking(Handler):
        def do_POST(self) -> None:  # noqa: N802 - the base class's name
            assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
            collector.take(dict(self.headers), self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with http_server(Taking) as port:
        collector.url = f"http://127.0.0.1:{port}"
        yield collector
