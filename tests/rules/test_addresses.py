"""Hashes of client addresses: equal for the same subject and key, and with the hash of the /48 before that of a /64."""

from ipaddress import ip_address

from hypothesis import given
from hypothesis import strategies as st

from holdfast.rules.addresses import NOWHERE, AddressHashes, network_of, subject_of

HASHES, OTHERS = AddressHashes(b"k" * 32), AddressHashes(b"o" * 32)


@given(st.ip_addresses(), st.ip_addresses())
def test_a_hash_stands_for_its_subject(one, other):
    mine, theirs = subject_of(one), subject_of(other)
    assert (HASHES.of(mine) == HASHES.of(theirs)) is (mine == theirs)
    assert HASHES.of(mine) != OTHERS.of(mine) and mine not in HASHES.of(mine)


@given(st.ip_addresses(v=6), st.integers(0, 2**16 - 1))
def test_the_networks_of_neighbours_have_the_same_hash(address, subnet):
    neighbour = ip_address(int(address) & ~(0xFFFF << 64) | subnet << 64)
    mine, theirs = subject_of(address), subject_of(neighbour)
    assert (network_of(HASHES.of(mine)) is None) is (network_of(mine) is None)
    if network_of(mine) is not None and network_of(theirs) is not None:
        assert network_of(HASHES.of(mine)) == network_of(HASHES.of(theirs))
        assert network_of(str(network_of(HASHES.of(mine)))) is None


def test_a_connection_without_an_address_stays_one():
    assert HASHES.of(NOWHERE) == NOWHERE
