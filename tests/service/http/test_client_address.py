"""The client's address, in every form in which proxies write addresses."""

from ipaddress import ip_network
from types import SimpleNamespace

import pytest

from holdfast.service.http import client_address
from holdfast.service.http.client_address import ClientAddress

TRUSTED = tuple(map(ip_network, ("127.0.0.1", "::1", "10.0.0.0/8", "2001:db8:ffff::/48")))
XFF = "x-forwarded-for"


def subject(peer, *headers, header=None):
    request = SimpleNamespace(peer=peer, header_values=lambda name: [value for key, value in headers if key == name])
    return ClientAddress(header, TRUSTED).subject(request)


@pytest.mark.parametrize(("peer", "forwarded", "expected"), [
    ("192.0.2.1", [], "192.0.2.1"),
    ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),  # not a trusted proxy: its header may be false
    ("127.0.0.1", [], "127.0.0.1"),
    ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
    ("::ffff:127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
    ("127.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
    ("127.0.0.1", ["203.0.113.9, 198.51.100.1, 10.1.2.3"], "198.51.100.1"),
    ("127.0.0.1", ["203.0.113.9", "198.51.100.1", "10.1.2.3"], "198.51.100.1"),
    ("127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
    ("127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
    ("127.0.0.1", ["[::ffff:198.51.100.1]:443"], "198.51.100.1"),
    ("127.0.0.1", ["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::/64"),
    ("127.0.0.1", ["[2001:db8:1:2:3:4:5:6]:443"], "2001:db8:1:2::/64"),
    ("127.0.0.1", ["2001:db8:1:2::7%eth0"], "2001:db8:1:2::/64"),
    ("127.0.0.1", ["198.51.100.1, unknown"], "127.0.0.1"),
    ("127.0.0.1", ["198.51.100.1, unknown, 10.1.2.3"], "10.1.2.3"),
    ("127.0.0.1", ["198.51.100.1,"], "127.0.0.1"),
    ("127.0.0.1", ["10.1.2.3, 10.3.2.1"], "10.1.2.3"),
    ("127.0.0.1", [""], "127.0.0.1"),
    ("127.0.0.1", ["010.1.2.3"], "127.0.0.1"),
    ("127.0.0.1", ["9" * 5000], "127.0.0.1"),
    ("127.0.0.1", ["198.51.100.1" + ",10.1.2.3" * 40], "10.1.2.3"),
    ("", ["198.51.100.1"], "local"),
])  # fmt: skip
def test_forwarded_for_is_read_from_the_right(peer, forwarded, expected):
    assert subject(peer, *((XFF, value) for value in forwarded)) == expected


@pytest.mark.parametrize(("peer", "named", "expected"), [
    ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
    ("10.0.0.1", [" 198.51.100.1 "], "198.51.100.1"),
    ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
    ("10.0.0.1", ["2001:db8:1:2::7"], "2001:db8:1:2::/64"),
    ("10.0.0.1", ["203.0.113.9", "198.51.100.1"], "198.51.100.1"),  # the requester's header, then the edge's
    ("10.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
    ("10.0.0.1", [], "10.0.0.1"),
    ("10.0.0.1", ["none"], "10.0.0.1"),
    ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
])  # fmt: skip
def test_the_edges_own_header_wins(peer, named, expected):
    headers = [("cf-connecting-ip", value) for value in named]
    assert subject(peer, *headers, (XFF, "203.0.113.77"), header="cf-connecting-ip") == expected


def test_long_texts_are_not_kept():
    before = client_address.parse_short.cache_info().currsize
    for number in range(10):
        subject("127.0.0.1", (XFF, f"{number}" * 10_000))
    assert client_address.parse_short.cache_info().currsize <= before + 1
