"""A service that names an address of the person's own network is not followed."""

from __future__ import annotations

import pytest

from holdfast.client.http.named_endpoint import endpoint_named

REMOTE, LOCAL = "https://vault.example", "http://localhost:8787"


@pytest.mark.parametrize(
    ("named", "service"),
    [
        ("https://rpc.example/key", REMOTE),
        ("https://1.1.1.1/", REMOTE),
        ("http://127.0.0.1:8545", LOCAL),
        ("http://localhost:8545", "http://127.0.0.1:8787"),
        ("http://[::1]:8545", "http://[::1]:8787"),
        ("https://rpc.example/key", LOCAL),
    ],
)
def test_public_addresses_and_the_services_own_machine_are_used(named: str, service: str) -> None:
    assert endpoint_named(named, service) == named


@pytest.mark.parametrize(
    ("named", "service"),
    [
        ("http://127.0.0.1:21330/router/admin", REMOTE),
        ("https://127.0.0.1/", REMOTE),
        ("https://localhost/", REMOTE),
        ("http://rpc.example", REMOTE),
        ("http://rpc.example", LOCAL),
        ("http://192.168.1.1/", LOCAL),
        ("https://192.168.1.1/", REMOTE),
        ("https://10.0.0.1/", REMOTE),
        ("https://169.254.169.254/latest/meta-data", REMOTE),
        ("https://[fd00::1]/", REMOTE),
        ("https://[::ffff:192.168.1.1]/", REMOTE),
        ("https://0.0.0.0/", REMOTE),
        ("ftp://127.0.0.1/", LOCAL),
        ("file:///etc/passwd", LOCAL),
        ("", REMOTE),
        (None, REMOTE),
        ("no address", REMOTE),
        ("https://", REMOTE),
        ("http://[", REMOTE),
    ],
)
def test_other_addresses_are_not(named: str | None, service: str) -> None:
    assert endpoint_named(named, service) is None
