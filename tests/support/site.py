"""An installation of nodes, a database and a network, for tests that damage its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.nodes import Nodes
    from tests.support.postgres_server import PostgresServer
    from tests.support.tcp_proxy import TcpProxy


@dataclass
class Site:
    """An installation whose parts a test may damage, but must repair afterwards."""

    postgres: PostgresServer
    network: TcpProxy
    nodes: Nodes
