"""A CID has one canonical text form, uses only the supported codecs, and identifies exact bytes."""

import hashlib
from contextlib import suppress

import libipld
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.content.cids import bytes_of, cid_of, codec_of, raw_block, text_of, verified
from holdfast.content.errors import ContentError

GOOD = raw_block(b"a").cid


def test_a_raw_blocks_cid_is_the_published_one():
    # The CIDv1 (raw) of "abc", whose SHA-256 is in FIPS 180-4, has the same text in other implementations.
    cid = raw_block(b"abc").cid
    assert cid == "bafkreif2pall7dybz7vecqka3zo24irdwabwdi4wc55jznaq75q7eaavvu" and verified(cid, b"abc") == b"abc"
    with pytest.raises(ContentError, match="does not match its CID"):
        verified(cid, b"b")


@given(st.binary(), st.sampled_from(["raw", "dag-cbor"]))
def test_libipld_reads_the_same(data, codec):
    cid = cid_of(codec, data)
    parsed = libipld.decode_cid(cid)
    assert (parsed["version"], parsed["codec"], codec_of(cid)) == (1, {"raw": 0x55, "dag-cbor": 0x71}[codec], codec)
    assert parsed["hash"]["digest"] == bytes_of(cid)[4:] == hashlib.sha256(data).digest()
    assert libipld.encode_cid(bytes_of(cid)) == cid
    assert text_of(bytes_of(cid)) == cid


@pytest.mark.parametrize(
    "cid",
    [
        *("", "nope", GOOD[:-1], GOOD + "a", GOOD.upper(), GOOD[:-1] + "1", "B" + GOOD[1:], GOOD[:-1] + "ß"),
        libipld.encode_multibase("k", bytes_of(GOOD)),
        "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n",  # version 0
        "bafkqabtimvwgy3yk",  # identity hash
        GOOD[:-1] + chr(ord(GOOD[-1]) + 1),  # extra bits after the last byte
    ],
)
def test_other_texts_are_refused(cid):
    with pytest.raises(ContentError):
        bytes_of(cid)


@given(st.text(max_size=80) | st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=58, max_size=58))
def test_any_text_is_refused_or_canonical(text):
    for spelled in (text, "b" + text):
        with suppress(ContentError):
            assert text_of(bytes_of(spelled)) == spelled
