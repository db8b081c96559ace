"""Three nodes on one PostgreSQL server, behind a proxy that can cut their network. The tests share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.support.nodes import Nodes, nodes_on
from tests.support.postgres_server import USER, PostgresServer, running
from tests.support.tcp_proxy import TcpProxy, proxied

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Site:
    """An installation whose parts a test may hurt, and must leave well."""

    postgres: PostgresServer
    network: TcpProxy
    nodes: Nodes


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running(max_connections="60") as postgres, proxied(postgres.port) as network:
        url = f"postgresql://{USER}@127.0.0.1:{network.port}/{postgres.new_database().rpartition('/')[2]}"
        with nodes_on(tmp_path_factory.mktemp("site"), url, 3) as nodes:
            yield Site(postgres, network, nodes)
