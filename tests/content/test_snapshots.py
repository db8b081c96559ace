"""The same snapshot always has the same root, and hostile roots are refused."""

import hashlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.content.content_vectors import cases, octets

from holdfast.content import cars, cids, ipld, snapshots
from holdfast.content.cids import Block, cid_of
from holdfast.content.errors import ContentError

MANIFEST = snapshots.Manifest(root_cid=None, did="did:new:0x01", updated_at=1, wasm_version="ab")


def manifest_of(fields):
    names = {"root_cid": "rootCid", "did": "did", "updated_at": "updatedAt", "wasm_version": "wasmVersion"}
    delegation = bytes.fromhex(fields["delegation"]) if "delegation" in fields else None
    return snapshots.Manifest(**{name: fields[key] for name, key in names.items()}, delegation=delegation)


@pytest.mark.parametrize("case", cases("snapshots/valid"))
def test_the_same_vault_gives_the_same_root(case):
    sealed, manifest = octets(case["sealed"]), manifest_of(case["manifest"])
    root, *parts = snapshots.snapshot_blocks(manifest, sealed)
    assert (root.cid, root.data.hex()) == (case["root"], case["root_block"])
    assert [part.cid for part in parts] == case["blocks"]
    assert hashlib.sha256(cars.write_car(root.cid, [root, *parts])).hexdigest() == case["car_sha256"]
    read = snapshots.read_root(root)
    assert (read.manifest, read.size, read.blocks) == (manifest, len(sealed), tuple(case["blocks"]))
    assert snapshots.sealed_of(read, {part.cid: part.data for part in parts}) == sealed


@pytest.mark.parametrize("case", cases("snapshots/older"))
def test_older_roots_are_read(case):
    read = snapshots.read_root(Block(case["root"], bytes.fromhex(case["root_block"])))
    block = cids.raw_block(bytes.fromhex(case["sealed"]))
    assert (read.size, read.blocks) == (None, (block.cid,))
    assert snapshots.sealed_of(read, {block.cid: block.data}) == block.data


@pytest.mark.parametrize("case", cases("snapshots/invalid"))
def test_invalid_roots(case):
    data = bytes.fromhex(case["root_block"])
    assert refused(snapshots.read_root, Block(cid_of("dag-cbor", data), data)) == case["code"]


@given(st.data())
def test_a_damaged_root_is_refused_or_another_root(data):
    (block, _) = snapshots.snapshot_blocks(MANIFEST, b"v")
    at = data.draw(st.integers(0, len(block.data) - 1))
    damaged = block.data[:at] + bytes([data.draw(st.integers(0, 255))]) + block.data[at + 1 :]
    try:
        read = snapshots.read_root(Block(cid_of("dag-cbor", damaged), damaged))
    except ContentError:
        return
    assert (read.cid == block.cid) == (damaged == block.data)


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.binary() | st.text(), st.lists))
def test_any_value_in_any_field_is_refused_or_read(value):
    good = {"manifest": MANIFEST.fields(), "size": 1, "blocks": [ipld.link(cids.raw_block(b"v").cid)]}
    for changed in ({**good, "manifest": value}, {**good, "size": value}, {**good, "blocks": value}):
        with suppress(ContentError):
            snapshots.read_root(ipld.dag_cbor_block(changed))
            assert type(value) is int and 0 < value <= cids.MAX_BLOCK_BYTES
    for name in MANIFEST.fields():
        with suppress(ContentError):
            snapshots.read_root(ipld.dag_cbor_block({**good, "manifest": {**MANIFEST.fields(), name: value}}))


def refused(call, *given):
    with pytest.raises(ContentError) as caught:
        call(*given)
    return caught.value.code


def test_blocks_must_be_there_fit_and_belong():
    root, first, second = snapshots.snapshot_blocks(MANIFEST, bytes(cids.MAX_BLOCK_BYTES) + b"x")
    assert refused(snapshots.read_root, cids.raw_block(root.data)) == "invalid_root"
    read = snapshots.read_root(root)
    blocks = {block.cid: block.data for block in (root, first, second)}
    assert snapshots.sealed_of(read, blocks) == first.data + second.data
    snapshots.check_all_linked(read, blocks)
    assert refused(snapshots.sealed_of, read, {first.cid: first.data}) == "block_missing"
    assert refused(snapshots.sealed_of, read, {**blocks, second.cid: b"y"}) == "block_mismatch"
    assert refused(snapshots.check_all_linked, read, {**blocks, cids.raw_block(b"z").cid: b"z"}) == "block_unlinked"


def test_blocks_and_vaults_of_other_lengths_are_refused():
    short, rest = cids.raw_block(b"a"), cids.raw_block(bytes(cids.MAX_BLOCK_BYTES))
    links = [ipld.link(short.cid), ipld.link(rest.cid)]
    value = {"manifest": MANIFEST.fields(), "size": cids.MAX_BLOCK_BYTES + 1, "blocks": links}
    read = snapshots.read_root(ipld.dag_cbor_block(value))
    assert refused(snapshots.sealed_of, read, {short.cid: short.data, rest.cid: rest.data}) == "other_size"
    for length in (0, snapshots.MAX_SEALED_BYTES + 1):
        assert refused(snapshots.snapshot_blocks, MANIFEST, bytes(length))
