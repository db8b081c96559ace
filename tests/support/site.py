"""An installation of nodes, database and network, for tests that damage its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.nodes import Nodes
    from tests.support.postgres_server import PostgresServer
    from tests.support.tcp_proxy import TcpProxy


@dataclass
class Site:
    """An installation whose parts a test may damage, and must leave intact."""

    postgres: PostgresServer
    network: TcpProxy
    nodes: Nodes
