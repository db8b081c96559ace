"""Several nodes of the service on one PostgreSQL database, as an operator runs them, and why they refused requests."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.serving import HOLDFAST, Server, environment_of, launched, wait_until_ready

from holdfast.world.processes import free_port

# Limits that are too high to interfere with those under test, which are three registrations and five attempts.
_ROOMY = {
    "RATE_LIMIT_CODES_PER_IDENTIFIER": "1000",
    "MAX_VERIFY_SENDS_PER_IP": "1000",
    "EMAIL_CODE_EXPIRY_SECONDS": "3600",
    "checks_per_address_hour": "1000",
    "log": "json",
}


class Nodes:
    """The nodes of one installation, which share only the database and the signing key."""

    def __init__(
        self, folder: Path, database_url: str, prefix: Sequence[str] = (), host: str = "127.0.0.1", peer: str = ""
    ) -> None:
        """`prefix` precedes the command, `host` is where nodes listen, and `peer` is a proxy that they trust."""
        self._folder, self._prefix, self._host = folder, tuple(prefix), host
        self._settings = {**_ROOMY, "database_url": database_url, "ATTESTATION_SIGNING_KEY": secrets.token_hex(32)}
        if peer:
            self._settings["trusted_proxies"] = peer
        self.running: list[Server] = []

    def start(self, count: int = 1) -> list[Server]:
        started = [self._launch(self._folder / f"node{len(self.running) + n}", free_port()) for n in range(count)]
        self.running += started
        for server in started:
            wait_until_ready(server)
        return started

    def start_again(self, server: Server) -> None:
        """Restart a node that has stopped, on its previous port and in its previous place in `running`."""
        again = self._launch(server.data, server.port)
        self.running[self.running.index(server)] = again
        wait_until_ready(again)

    def close(self) -> None:
        for server in self.running:
            server.kill_all()

    def _launch(self, data: Path, port: int) -> Server:
        data.mkdir(parents=True, exist_ok=True)
        command = [*self._prefix, HOLDFAST, "serve", "--host", self._host, "--port", str(port)]
        environment = environment_of(data, **{"public_url": f"http://localhost:{port}", **self._settings})
        return launched(command, environment, port, data, data.with_suffix(".log"), self._host)


@contextlib.contextmanager
def nodes_on(
    folder: Path, database_url: str, count: int, prefix: Sequence[str] = (), host: str = "127.0.0.1", peer: str = ""
) -> Iterator[Nodes]:
    nodes = Nodes(folder, database_url, prefix, host, peer)
    try:
        nodes.start(count)
        yield nodes
    finally:
        nodes.close()


# On a busy machine, the database may not respond for over a second.
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
