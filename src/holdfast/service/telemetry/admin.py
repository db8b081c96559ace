"""Serves GET /metrics on the admin port, in a thread of the process that starts the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server

from holdfast.service.telemetry.collecting import NodeCollector

if TYPE_CHECKING:
    from pathlib import Path


def serve_metrics(host: str, port: int, folder: Path) -> None:
    """Serve the metrics of all workers, summed up from the files in this folder.

    Raises OSError if the port is in use.
    """
    registry = CollectorRegistry()
    registry.register(NodeCollector(folder))
    start_http_server(port, addr=host, registry=registry)
