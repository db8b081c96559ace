"""The client's snapshots: round trips, the older format, and the verification of every byte."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.vector_files import vectors

from holdfast.client.storage import snapshots
from holdfast.client.types import VaultManifest
from holdfast.content.cids import MAX_BLOCK_BYTES
from holdfast.wire.client_errors import StorageError

FILES = vectors("snapshots/files")["cases"]
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


@pytest.mark.parametrize("case", FILES, ids=lambda it: it["name"])
def test_a_file_that_names_no_single_root_is_read_if_it_has_one_snapshot(case):
    if case["root"] is None:
        with pytest.raises(StorageError):
            snapshots.from_car(bytes.fromhex(case["car"]))
    else:
        assert snapshots.from_car(bytes.fromhex(case["car"])).root_cid == case["root"]


def test_the_blocks_of_one_vault_are_found():
    other = snapshots.take(msgspec.structs.replace(MANIFEST, did="did:new:0x02"), b"other")
    taken = snapshots.take(MANIFEST, b"a" * (MAX_BLOCK_BYTES + 1))
    by_cid = {block.cid: block.data for block in (*taken.blocks, *other.blocks)}
    assert snapshots.blocks_of(MANIFEST.did, by_cid) == {block.cid for block in taken.blocks}
