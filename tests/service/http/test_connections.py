"""The watch on connections knows which requests belong to which of the process's sockets."""

import pytest

from holdfast.rules.connections import ConnectionLimits
from holdfast.service.http import own_sockets
from holdfast.service.http.client_address import ClientAddress
from holdfast.service.http.connections import Activity, ConnectionKeeper
from holdfast.service.http.own_sockets import OwnSocket, without_scope

# Without a time limit for silence: whatever has no request in progress is closed in the next turn.
LIMITS = ConnectionLimits(send_timeout_s=60, idle_timeout_s=0, per_address=0)


@pytest.mark.parametrize(("peer", "key"), [
    ("fe80::1%2:443", "fe80::1:443"), ("fe80::1%eth0:443", "fe80::1:443"), ("fe80::1:443", "fe80::1:443"),
    ("192.0.2.1:443", "192.0.2.1:443"),
])  # fmt: skip
def test_a_link_local_peer_has_one_name(peer, key):
    assert without_scope(peer) == key


@pytest.mark.parametrize("named_by_server", ["fe80::1%2:443", "fe80::1%eth0:443", "fe80::1:443"])
def test_a_link_local_peers_request_in_progress_keeps_its_connection(monkeypatch, named_by_server):
    ended = []
    seen = OwnSocket(7, 1, "fe80::1%eth0", without_scope("fe80::1%eth0:443"), 0, 0, 0.0)
    monkeypatch.setattr(own_sockets, "accepted", lambda: [seen])
    monkeypatch.setattr(own_sockets, "end", ended.append)
    activity = Activity()
    keeper = ConnectionKeeper(LIMITS, ClientAddress(None, ()), activity)
    with activity.request(named_by_server):
        keeper.turn()
        assert ended == []
    keeper.turn()
    assert ended == [seen]
