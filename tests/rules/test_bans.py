"""What a ban is about, in an operator's words and in a request."""

from ipaddress import ip_network

import pytest

from holdfast.rules.bans import ban_subject, subjects_of
from holdfast.rules.identifiers import Channel, parse_identifier

DID = "did:new:0x" + "11" * 32
MAIL = parse_identifier("Ann@Mail.Example.com", Channel.EMAIL)


@pytest.mark.parametrize(("kind", "value", "subject"), [
    ("name", "ANN", "name handle ann"),
    ("did", DID, f"did {DID}"),
    ("domain", "Example.COM", "domain example.com"),
    ("domain", "@example.com", "domain example.com"),
    ("domain", "xn--bcher-kva.example", "domain bücher.example"),
    ("network", "192.0.2.0/24", "network 192.0.2.0/24"),
    ("network", "192.0.2.7", "network 192.0.2.7/32"),
    ("network", "2001:db8::/32", "network 2001:db8::/32"),
    ("network", "2001:db8::1", "network 2001:db8::/64"),
])  # fmt: skip
def test_words_become_a_subject(kind, value, subject):
    assert ban_subject(kind, value) == subject


@pytest.mark.parametrize(("kind", "value"), [
    ("name", "a b"), ("did", "ann"), ("domain", "a b"), ("domain", ""), ("network", "192.0.2.1/24"),
    ("network", "0.0.0.0/0"), ("network", "2001:db8::1/128"), ("network", "ann"), ("person", "ann"),
])  # fmt: skip
def test_what_cannot_be_banned(kind, value):
    with pytest.raises(ValueError, match=r".+") as refused:
        ban_subject(kind, value)
    assert "BanKind" not in str(refused.value)


def test_a_request_is_concerned_by_its_name_did_and_domains():
    domains = [f"domain {name}" for name in ("mail.example.com", "example.com", "com")]
    assert sorted(subjects_of(MAIL, DID, "local")) == sorted(
        ["name email ann@mail.example.com", f"did {DID}", *domains]
    )


@pytest.mark.parametrize(
    "network", ["192.0.2.7", "0.0.0.1", "2001:db8:1:2::/64", "1:0:0:2::/64", "::/64", "0:0:1:0::/64"]
)
def test_a_network_is_written_as_an_operator_bans_it(network):
    around = ip_network(network)
    first, last = (8, 32) if around.version == 4 else (16, 64)
    found = [subject for subject in subjects_of(MAIL, DID, network) if subject.startswith("network")]
    assert found == [f"network {around.supernet(new_prefix=n)}" for n in range(first, last + 1)]
    assert found[3] == ban_subject("network", str(around.supernet(new_prefix=first + 3)))
