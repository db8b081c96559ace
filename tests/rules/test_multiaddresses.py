"""The addresses of pairing hosts that the service accepts, and the origins to which its pages may connect for them."""

import pytest

from holdfast.rules.multiaddresses import websocket_origin

PEER = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA"


@pytest.mark.parametrize(("address", "origin"), [
    (f"/dns4/Meet.example/tcp/443/wss/p2p/{PEER}", "wss://meet.example:443"),
    (f"/dns/meet.example/tcp/8443/tls/ws/p2p/{PEER}", "wss://meet.example:8443"),
    (f"/ip4/127.0.0.1/tcp/4001/ws/p2p/{PEER}", "ws://127.0.0.1:4001"),
    (f"/ip6/::1/tcp/4001/ws/p2p/{PEER}", "ws://[::1]:4001"),
])  # fmt: skip
def test_the_origin_of_a_websocket_address(address, origin):
    assert websocket_origin(address) == origin


@pytest.mark.parametrize("address", [
    "/dns4/meet.example/tcp/443/wss",
    f"/dns4/meet.example/tcp/443/p2p/{PEER}",
    f"/dns4/meet.example/tcp/70000/wss/p2p/{PEER}",
    f"/dns4/meet.example/tcp/0/wss/p2p/{PEER}",
    f"/ip4/::1/tcp/443/wss/p2p/{PEER}",
    f"/dns4/meet.example 'unsafe-inline'/tcp/443/wss/p2p/{PEER}",
    f"/dns4/meet.example;script-src *//tcp/443/wss/p2p/{PEER}",
    "wss://meet.example",
    "",
])  # fmt: skip
def test_other_addresses_are_refused(address):
    with pytest.raises(ValueError, match="peer ID"):
        websocket_origin(address)
