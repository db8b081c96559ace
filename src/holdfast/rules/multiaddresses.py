"""Multiaddresses of libp2p hosts that browsers can reach over WebSockets (libp2p specifications, addressing)."""

from __future__ import annotations

import re

_FORM = re.compile(
    r"/(?P<kind>ip4|ip6|dns|dns4|dns6)/(?P<host>[0-9A-Za-z.:-]{1,253})/tcp/(?P<port>\d{1,5})"
    r"/(?P<scheme>ws|wss|tls/ws)/p2p/[1-9A-HJ-NP-Za-km-z]{40,70}"
)
_MAX_PORT = 65535


def websocket_origin(address: str) -> str:
    """Return the origin of a WebSocket multiaddress in the form of Content-Security-Policy, such as `wss://host:443`.

    Raises ValueError for any other address, and for one that does not end with the host's peer ID, which authenticates
    the host.
    """
    parts = _FORM.fullmatch(address)
    if parts is None or not 0 < int(parts["port"]) <= _MAX_PORT or (":" in parts["host"]) != (parts["kind"] == "ip6"):
        raise ValueError("an address as /dns4/meet.example/tcp/443/wss/p2p/12D3… is needed, with the host's peer ID")
    host = f"[{parts['host']}]" if parts["kind"] == "ip6" else parts["host"].lower()
    return f"{'ws' if parts['scheme'] == 'ws' else 'wss'}://{host}:{int(parts['port'])}"
