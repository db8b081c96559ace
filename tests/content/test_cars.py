"""CAR files that arrive in pieces of any size, contain hostile bytes, or exceed a limit."""

import itertools
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.content.content_vectors import cases, octets

from holdfast.content import varints
from holdfast.content.cars import CarReader, Limits, read_car, write_car
from holdfast.content.cids import MAX_BLOCK_BYTES, raw_block
from holdfast.content.errors import ContentError
from holdfast.content.ipld import dag_cbor_block

BLOCKS = [raw_block(b"a"), raw_block(b"b" * 3000), dag_cbor_block({"a": [1, None]})]
WHOLE = write_car(BLOCKS[2].cid, BLOCKS)


@pytest.mark.parametrize("case", cases("car/valid"))
def test_valid_files(case):
    listed = {block["cid"]: bytes.fromhex(block["data"]) for block in case["blocks"]}
    assert read_car(octets(case["car"])) == (case["root"], listed)


@pytest.mark.parametrize("case", cases("car/invalid"))
def test_invalid_files(case):
    with pytest.raises(ContentError) as caught:
        read_car(octets(case["car"]))
    assert caught.value.code == case["code"]


@given(st.lists(st.integers(0, len(WHOLE))))
def test_the_pieces_do_not_matter(cuts):
    places = [0, *sorted(cuts), len(WHOLE)]
    reader = CarReader()
    found = [block for begin, end in itertools.pairwise(places) for block in reader.feed(WHOLE[begin:end])]
    reader.finish()
    assert found == BLOCKS
    assert reader.root == BLOCKS[2].cid


def test_no_byte_can_be_changed_or_cut():
    for position in range(len(WHOLE) - 2900):
        for damaged in (WHOLE[:position] + bytes([WHOLE[position] ^ 1]) + WHOLE[position + 1 :], WHOLE[:position]):
            with pytest.raises(ContentError):
                read_car(damaged)


@given(st.binary(max_size=400), st.integers(0, len(WHOLE)))
def test_strange_bytes_end_in_the_one_error(data, at):
    for strange in (data, WHOLE[:at] + data):
        with suppress(ContentError):
            read_car(strange)
            assert strange.startswith(WHOLE)


def test_a_file_is_bounded_and_a_length_is_refused_before_its_bytes_arrive():
    too_long = write_car(BLOCKS[2].cid, []) + varints.encode(36 + MAX_BLOCK_BYTES + 1)
    for limits, data, code in (
        (Limits(car=len(WHOLE) - 1), WHOLE, "car_too_large"),
        (Limits(raw_block=MAX_BLOCK_BYTES), too_long, "section_too_large"),
    ):
        with pytest.raises(ContentError) as caught:
            list(CarReader(limits).feed(data))
        assert caught.value.code == code
    assert read_car(WHOLE, Limits(car=len(WHOLE)))
    assert write_car(BLOCKS[2].cid, [*BLOCKS, *BLOCKS]) == WHOLE, "a block is written once"
    with pytest.raises(ContentError):
        write_car("bafkqabtimvwgy3yk", [])
