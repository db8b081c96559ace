"""Reads from the nodes' logs why they sent 503; on a busy machine, the database may not respond for over a second."""

from __future__ import annotations

import json

from tests.support.nodes import Nodes

_SILENCES = (
    "no connection to the database was free in time",
    "no connection to the database: no answer in time",
    "no answer from the database",
    "the server ended a query that took too long",  # the server's own time limits for a statement and for a lock
    "a lock was not free in time",
)


class Refusals:
    """The nodes' reasons for their 503s from now on. The nodes may restart; earlier tests may have used them."""

    def __init__(self, nodes: Nodes) -> None:
        self._since = {node.log: node.log.stat().st_size for node in nodes.running}

    def not_for_silence(self) -> list[str]:
        lines = [line for log, size in self._since.items() for line in log.read_bytes()[size:].decode().splitlines()]
        reasons = [json.loads(line)["why"] for line in lines if '"store unavailable"' in line]
        return [why for why in reasons if not why.startswith(_SILENCES)]
