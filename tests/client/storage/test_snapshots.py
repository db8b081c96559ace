"""The client's snapshots: round trips, the older format, and the verification of every byte."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.vector_files import VECTORS

from holdfast.client.storage import snapshots
from holdfast.client.types import VaultManifest
from holdfast.content import ipld
from holdfast.content.cars import write_car
from holdfast.content.cids import MAX_BLOCK_BYTES, raw_block
from holdfast.wire.client_errors import StorageError

FILES = json.loads((VECTORS / "snapshots" / "files.json").read_text("utf-8"))["cases"]
MANIFEST = VaultManifest(
    root_cid=None, did="did:new:0x01", updated_at=1700000000000, wasm_version="ab", schema_version=1
)


@settings(deadline=None)
@given(
    st.binary(min_size=1, max_size=3000), st.sampled_from([1, 500, MAX_BLOCK_BYTES]), st.none() | st.binary(min_size=1)
)
def test_snapshots_survive_a_car_file(part, times, delegation):
    sealed = (part * times)[: 2 * MAX_BLOCK_BYTES + 1]
    taken = snapshots.take(MANIFEST, sealed, delegation)
    assert snapshots.from_car(taken.to_car()) == taken
    assert taken.following_manifest.root_cid == taken.root_cid
    by_cid = {block.cid: block.data for block in taken.blocks}
    assert snapshots.read(taken.root_cid, by_cid.get).sealed == sealed


def test_no_byte_of_a_car_file_can_be_changed_or_cut():
    whole = snapshots.take(MANIFEST, b"sealed vault").to_car()
    for position in range(len(whole)):
        for damaged in (whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :], whole[:position]):
            with pytest.raises(StorageError):
                snapshots.from_car(damaged)


def test_the_older_form_is_still_read():
    vault = raw_block(b"sealed")
    root = ipld.dag_cbor_block({"manifest": MANIFEST.to_json(), "vault": ipld.link(vault.cid)})
    read = snapshots.from_car(write_car(root.cid, [root, vault]))
    assert (read.root_cid, read.manifest, read.sealed, read.delegation) == (root.cid, MANIFEST, b"sealed", None)


def test_a_block_that_is_not_linked_is_ignored():
    taken = snapshots.take(MANIFEST, b"sealed")
    assert snapshots.from_car(write_car(taken.root_cid, [*taken.blocks, raw_block(b"more")])) == taken


@pytest.mark.parametrize("case", FILES, ids=lambda it: it["name"])
def test_a_file_that_names_no_single_root_is_read_if_it_has_one_snapshot(case):
    if case["root"] is None:
        with pytest.raises(StorageError):
            snapshots.from_car(bytes.fromhex(case["car"]))
    else:
        assert snapshots.from_car(bytes.fromhex(case["car"])).root_cid == case["root"]


def test_a_missing_block_is_named():
    taken = snapshots.take(MANIFEST, b"sealed")
    with pytest.raises(StorageError, match="missing"):
        snapshots.read(taken.root_cid, {taken.root_cid: taken.blocks[0].data}.get)


def test_the_blocks_of_one_vault_are_found():
    other = snapshots.take(msgspec.structs.replace(MANIFEST, did="did:new:0x02"), b"other")
    taken = snapshots.take(MANIFEST, b"a" * (MAX_BLOCK_BYTES + 1))
    by_cid = {block.cid: block.data for block in (*taken.blocks, *other.blocks)}
    assert snapshots.blocks_of(MANIFEST.did, by_cid) == {block.cid for block in taken.blocks}
