"""Content addresses, CAR files and snapshots: round trips, others' bytes, and every byte verified."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.client.storage import snapshots
from holdfast.client.storage.content import Block, link, raw_block, read_car, verified, write_car
from holdfast.client.types import VaultManifest
from holdfast.wire.client_errors import StorageError

MANIFEST = VaultManifest(
    root_cid=None, did="did:new:0x01", updated_at=1700000000000, wasm_version="ab", schema_version=1
)


def test_a_raw_blocks_cid_is_the_published_one():
    # SHA-256 of "abc" (FIPS 180-4), CIDv1 raw: the same text as other implementations give.
    assert raw_block(b"abc").cid == "bafkreif2pall7dybz7vecqka3zo24irdwabwdi4wc55jznaq75q7eaavvu"


@given(st.binary(max_size=3000))
def test_snapshots_survive_a_car_file(sealed):
    taken = snapshots.take(MANIFEST, sealed)
    assert snapshots.from_car(taken.to_car()) == taken
    assert taken.following_manifest.root_cid == taken.root_cid
    assert taken.blocks[1] == raw_block(sealed)


def test_no_byte_of_a_car_file_can_be_changed_or_cut():
    whole = snapshots.take(MANIFEST, b"sealed vault").to_car()
    for position in range(len(whole)):
        for damaged in (whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :], whole[:position]):
            with pytest.raises(StorageError):
                snapshots.from_car(damaged)


@given(st.binary(max_size=300))
def test_other_bytes_are_no_car_file(data):
    with pytest.raises(StorageError):
        read_car(data)


def test_a_car_without_its_root_is_refused():
    with pytest.raises(StorageError, match="lacks its root"):
        read_car(write_car(raw_block(b"a").cid, [raw_block(b"b")]))


@pytest.mark.parametrize(
    "cid",
    [
        "",
        "nope",
        "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n",  # CIDv0
        "bafkqabtimvwgy3yk",  # identity hash
        raw_block(b"a").cid[:-1],
    ],
)
def test_cids_of_other_kinds_are_refused(cid):
    with pytest.raises(StorageError):
        link(cid)


def test_bytes_that_a_cid_does_not_name_are_refused():
    assert verified(raw_block(b"a").cid, b"a") == b"a"
    with pytest.raises(StorageError, match="does not match its CID"):
        verified(raw_block(b"a").cid, b"b")


def test_a_root_that_holds_something_else_is_refused():
    from holdfast.client.storage.content import dag_cbor_block

    for value in ({}, [], {"manifest": {}, "vault": link(raw_block(b"v").cid)}, {"manifest": MANIFEST.to_json()}):
        block = dag_cbor_block(value)
        with pytest.raises(StorageError):
            snapshots.from_car(write_car(block.cid, [block, Block(raw_block(b"v").cid, b"v")]))
