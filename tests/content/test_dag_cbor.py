"""The codec agrees with another implementation, refuses what is not canonical, and bounds what a decoder does."""

import json
import random
from contextlib import suppress
from pathlib import Path

import libipld
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.call_counts import counted_calls
from tests.support.dag_cbor_values import VALUES

from holdfast.content.cids import bytes_of, cid_of
from holdfast.content.dag_cbor import MAX_DEPTH, MAX_ITEMS, Link, Reader, decode, encode
from holdfast.content.errors import ContentError

VECTORS = Path(__file__).parents[2] / "vectors" / "dag_cbor"
CID = bytes_of(cid_of("raw", b"x"))


@given(VALUES)
def test_libipld_writes_and_reads_the_same(value):
    data = libipld.encode_dag_cbor(value)
    assert encode(value) == data
    assert decode(data) == value == libipld.decode_dag_cbor(data)


@given(st.binary(max_size=60))
def test_what_is_read_was_canonical(data):
    with suppress(ContentError):
        assert encode(decode(data)) == data


@pytest.mark.parametrize("case", json.loads((VECTORS / "decode_valid_py_dag_cbor.json").read_text())["cases"])
def test_vectors_that_hold(case):
    data = bytes.fromhex(case["input"]["data"][2:])
    assert encode(decode(data)) == data


@pytest.mark.parametrize("case", json.loads((VECTORS / "decode_invalid.json").read_text())["cases"])
def test_vectors_that_do_not(case):
    data = bytes.fromhex(case["input"]["data"][2:])
    if "error" not in case:
        assert encode(decode(data)) == data
        return
    with pytest.raises(ContentError, match="not DAG-CBOR"):
        decode(data)


def test_a_link_is_of_the_only_kind():
    data = encode({"a": Link(CID)})
    assert decode(data) == {"a": Link(CID)}
    for other in ("01551120", "01701220", "00551220", "01551221"):
        with pytest.raises(ContentError):
            decode(data.replace(bytes.fromhex("01551220"), bytes.fromhex(other)))
    for strange in (b"\xd8\x2a\x45\x00\x01\x55\x00\x00", b"\xd8\x2b" + data[5:], b"\xd8\x2a\xf6", b"\xd8\x2a"):
        with pytest.raises(ContentError):
            decode(strange)


def test_items_and_depth_are_bounded():
    for item in (None, Link(CID)):
        assert len(decode(encode([item] * (MAX_ITEMS - 1)))) == MAX_ITEMS - 1
    deepest = b"\x81" * (MAX_DEPTH - 1) + b"\x80"
    assert decode(deepest)
    halves = encode([[None] * (MAX_ITEMS // 2)] * 2)
    pairs = encode({f"{n:03}": 0 for n in range(MAX_ITEMS // 2)})
    for data in (encode([None] * MAX_ITEMS), pairs, b"\x81" + deepest, halves):
        with pytest.raises(ContentError):
            decode(data)
    with pytest.raises(ContentError):
        decode(encode([1, 2]), max_items=2)
    for read in (Reader(b"\x80").map_size, Reader(b"\x80").octets, Reader(b"\x41").octets):
        with pytest.raises(ContentError):
            read()


@pytest.mark.parametrize("value", [2**64, -(2**64) - 1, object(), {1: 2}, {"a": {"b": {1}}}])
def test_values_that_have_no_form(value):
    with pytest.raises((OverflowError, TypeError, AttributeError)):
        encode(value)


def test_no_bytes_raise_anything_else_or_take_long():
    """Changed and random bytes end in the one error, after a bounded number of calls."""
    draw = random.Random(7)
    good = encode({"a": [1, -(2**63), 1.5, "é", b"x", None, True, Link(CID)], "bb": {"c": [[], {}]}})
    limit = 12 * MAX_ITEMS
    for turn in range(4000):
        data = bytearray(good if turn % 2 else draw.randbytes(draw.randrange(1, 9000)))
        for _ in range(draw.randrange(4)):
            data[draw.randrange(len(data))] = draw.choice((0x5B, 0x9B, 0xBB, 0xFF, 0xD8, 0x81, draw.randrange(256)))
        with counted_calls() as calls, suppress(ContentError):
            decode(bytes(data))
        assert calls.count < limit
