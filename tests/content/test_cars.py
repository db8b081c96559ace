"""CAR files that arrive in pieces of any size, contain hostile bytes, or exceed a limit."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.content.content_vectors import cases, octets

from holdfast.content import varints
from holdfast.content.cars import CarReader, Limits, read_car, write_car
from holdfast.content.cids import MAX_BLOCK_BYTES, Block, raw_block
from holdfast.content.errors import ContentError
from holdfast.content.ipld import dag_cbor_block, link

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
        try:
            read_car(strange)
        except ContentError:
            continue
        assert strange.startswith(WHOLE)


def test_a_length_is_refused_before_its_bytes_arrive():
    reader = CarReader(Limits(raw_block=MAX_BLOCK_BYTES))
    header = write_car(BLOCKS[2].cid, [])
    with pytest.raises(ContentError) as caught:
        list(reader.feed(header + varints.encode(36 + MAX_BLOCK_BYTES + 1)))
    assert caught.value.code == "section_too_large"


def test_the_whole_file_is_bounded():
    with pytest.raises(ContentError) as caught:
        read_car(WHOLE, Limits(car=len(WHOLE) - 1))
    assert caught.value.code == "car_too_large"
    assert read_car(WHOLE, Limits(car=len(WHOLE)))


def test_a_block_is_written_once():
    assert write_car(BLOCKS[2].cid, [*BLOCKS, *BLOCKS]) == WHOLE


def test_a_root_of_another_kind_is_no_root():
    with pytest.raises(ContentError):
        write_car("bafkqabtimvwgy3yk", [])
    with pytest.raises(ContentError):
        link(Block("", b"").cid)
