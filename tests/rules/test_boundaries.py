"""Limits hold exactly: the largest permitted value passes, and the next one does not."""

import msgspec
import pytest

from holdfast.content.bases import to_multibase
from holdfast.rules.colours import WHITE, Colour, contrast, lightened_for
from holdfast.rules.gateway import identity_car
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.rules.pins import checked_pin
from holdfast.wire.errors import Refused
from holdfast.wire.failures import SnapshotRefused
from holdfast.wire.requests import PinSnapshot

ROOT = "bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


def pin_of(size):
    """Return a request for a pin that has this many bytes as JSON."""
    empty = PinSnapshot(cid=ROOT, name="v", meta=dict.fromkeys("abcdefgh", ""))
    each, more = divmod(size - len(msgspec.json.encode(empty)), 8)
    return PinSnapshot(cid=ROOT, name="v", meta={name: "x" * (each + more * (name == "a")) for name in "abcdefgh"})


def test_a_pin_has_at_most_four_kibibytes():
    assert checked_pin(pin_of(4096)).name == "v"
    with pytest.raises(SnapshotRefused) as refused:
        checked_pin(pin_of(4097))
    assert "at most 4096 bytes" in refused.value.details


@pytest.mark.parametrize(("size", "is_read"), [(75, True), (76, False)])
def test_an_identity_cid_has_at_most_128_characters(size, *, is_read):
    cid = to_multibase("b", bytes([1, 0x55, 0, size]) + bytes(size))
    assert len(cid) == (128 if is_read else 129)
    assert (identity_car(cid) is not None) is is_read


def test_a_shade_that_is_almost_white_is_found():
    background = Colour(0x74, 0x74, 0x74)
    shade = lightened_for(background, Colour(0, 0, 0))
    assert shade != WHITE
    assert 4.5 <= contrast(shade, background) < contrast(WHITE, background)


def test_an_identifier_is_sent_in_at_most_320_characters():
    assert parse_identifier("ann".ljust(320), Channel.HANDLE).key == "ann"
    with pytest.raises(Refused):
        parse_identifier("ann".ljust(321), Channel.HANDLE)
