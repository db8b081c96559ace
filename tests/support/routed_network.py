"""A kernel network between nodes and their database, with a router that can drop all packets; needs root.

Nodes run in a network namespace with two links: one to this machine, for the tests' requests, and one to the database,
through a second namespace that acts as the router. When the router stops, packets in both directions are lost without
any error.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.nodes import Nodes, nodes_on
from tests.support.postgres_server import PostgresServer

_COUNT = itertools.count()


class RoutedNetwork:
    """The addresses in a network that a test can cut. `prefix` runs a command in the nodes' namespace.

    `inner` is the nodes' address on the way to the database, `node` the one on the direct link to `client`.
    """

    def __init__(self) -> None:
        # Another than the last one's, whose links the kernel may still be removing.
        number = (os.getpid() + next(_COUNT)) % 250
        self._nodes, self._router = f"hf-nodes-{number}", f"hf-router-{number}"
        self._links = [f"hf{number}{end}" for end in "abcdef"]
        self.client, self.node = f"10.213.{number}.1", f"10.213.{number}.2"
        self.database, self._near = f"10.214.{number}.1", f"10.214.{number}.2"
        self._far, self.inner = f"10.215.{number}.1", f"10.215.{number}.2"
        self.prefix = ("ip", "netns", "exec", self._nodes)

    def nodes(self, folder: Path, url: str) -> AbstractContextManager[Nodes]:
        return nodes_on(folder, url, 2, prefix=self.prefix, host=self.node, peer=self.client)

    def admit(self, postgres: PostgresServer) -> None:
        with (postgres.data / "pg_hba.conf").open("a") as file:
            file.writelines(f"host all all {address}/32 trust\n" for address in (self.node, self.inner))
        postgres.execute("SELECT pg_reload_conf()")

    def cut(self) -> None:
        self._forward(on=False)

    def restore(self) -> None:
        self._forward(on=True)

    def create(self) -> None:
        a, b, c, d, e, f = self._links
        for name in (self._nodes, self._router):
            _run("ip", "netns", "add", name)
            _run("ip", "-n", name, "link", "set", "lo", "up")
        self._link((None, a, self.client), (self._nodes, b, self.node))
        self._link((None, c, self.database), (self._router, d, self._near))
        self._link((self._router, e, self._far), (self._nodes, f, self.inner))
        _run("ip", "-n", self._nodes, "route", "add", f"{self.database}/32", "via", self._far)
        _run("ip", "route", "add", f"{self.inner}/32", "via", self._near)
        self.restore()

    def remove(self) -> None:
        for name in (self._nodes, self._router):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def _link(self, *ends: tuple[str | None, str, str]) -> None:
        (_, first, _), (_, second, _) = ends
        _run("ip", "link", "add", first, "type", "veth", "peer", "name", second)
        for namespace, link, address in ends:
            inside = ("-n", namespace) if namespace else ()
            if namespace:
                _run("ip", "link", "set", link, "netns", namespace)
            _run("ip", *inside, "addr", "add", f"{address}/30", "dev", link)
            _run("ip", *inside, "link", "set", link, "up")

    def _forward(self, *, on: bool) -> None:
        _run("ip", "netns", "exec", self._router, "sh", "-c", f"echo {int(on)} > /proc/sys/net/ipv4/ip_forward")


@contextlib.contextmanager
def routed_network() -> Iterator[RoutedNetwork]:
    """Yield a network and remove it afterwards; skip the test if the kernel refuses it.

    A new address ends what a browser on this machine loads (ERR_NETWORK_CHANGED), so none is made while tests are collected.
    """
    network = RoutedNetwork()
    try:
        _create(network)
        yield network
    finally:
        network.remove()


def _create(network: RoutedNetwork) -> None:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("a network of namespaces needs root and iproute2")
    try:
        network.create()
    except AssertionError as error:
        pytest.skip(f"no network of namespaces: {error}")


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
