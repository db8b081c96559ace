"""Three nodes that reach one PostgreSQL server through a proxy, which can cut their connections. All tests here share them."""

from types import SimpleNamespace

import pytest
from tests.support.nodes import nodes_on
from tests.support.postgres_server import USER, running
from tests.support.tcp_proxy import proxied


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """An installation whose parts a test may damage, but must repair afterwards."""
    with running(max_connections="60") as postgres, proxied(postgres.port) as network:
        url = f"postgresql://{USER}@127.0.0.1:{network.port}/{postgres.new_database().rpartition('/')[2]}"
        with nodes_on(tmp_path_factory.mktemp("site"), url, 3) as nodes:
            yield SimpleNamespace(postgres=postgres, network=network, nodes=nodes)


@pytest.fixture
def citus_nodes(tmp_path, citus_url):
    """Three nodes on a Citus cluster."""
    with nodes_on(tmp_path, citus_url, 3) as nodes:
        yield nodes
