"""The benchmark's command-line options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.subjects import FASTAPI_PEER, FASTIFY_PEER, GRANIAN, UVICORN

if TYPE_CHECKING:
    from pathlib import Path

    from bench.subjects import Subject


ROUTES = ("register", "check", "lookup", "steady")  # what `stores` can measure


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how often to measure, with how much data, and which servers."""

    folder: Path
    seconds: float = 2.0
    alternations: int = 7
    rows: int = 10_000
    vaults: int = 1000
    workers: int = 1
    identifiers: tuple[int, ...] = (10_000, 1_000_000, 10_000_000)
    connections: tuple[int, ...] = (1, 16, 64)
    server: str = "all"
    without: frozenset[str] = frozenset()
    filled: Path | None = None
    store: str = "all"
    routes: tuple[str, ...] = ROUTES
    nodes: tuple[int, ...] = (1, 2, 3)
    rates: tuple[int, ...] = (500, 1000, 2000, 4000, 8000, 16000)

    @property
    def services(self) -> list[Subject]:
        """Return the Holdfast service on each requested HTTP server."""
        kinds = {subject.name.partition("/")[2]: subject for subject in (GRANIAN, UVICORN)}
        return list(kinds.values()) if self.server == "all" else [kinds[self.server]]

    @property
    def subjects(self) -> list[Subject]:
        """Return the Holdfast service, and the peers that were not excluded."""
        peers = [peer for peer in (FASTIFY_PEER, FASTAPI_PEER) if peer.name not in self.without]
        return [*self.services, *peers]
