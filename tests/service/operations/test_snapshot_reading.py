"""Reading stored snapshots from the page cache or in a thread returns the same bytes and the same errors."""

import os
from dataclasses import dataclass

import pytest
from tests.support.snapshot_vaults import Vault, folder, registered

from holdfast.content.cars import read_car
from holdfast.content.cids import Block
from holdfast.service.snapshots import page_cache

SMALL, LARGE = 100_000, 3 * 1024 * 1024 + 17


@dataclass
class Kept:
    """A stored snapshot of several blocks, small enough to be sent in one piece."""

    vault: Vault
    blocks: tuple[Block, ...]

    async def get(self, block, form, **headers):
        return await self.vault.api.http.get(f"/ipfs/{block.cid}?format={form}", headers=headers)


@pytest.fixture(params=["at once", "by a thread"])
async def kept(make_api, monkeypatch, request):
    """A stored snapshot; each test runs once with the page cache in use, and once as if nothing were cached."""
    if request.param == "by a thread":
        monkeypatch.setattr(page_cache, "NOWAIT", 0)
    vault = await registered(make_api(snapshots_free_bytes="0"))
    blocks = vault.blocks(os.urandom(SMALL))
    await vault.keep(blocks)
    return Kept(vault, blocks)


async def test_blocks_and_files_are_what_was_kept(kept):
    root, part = kept.blocks
    for block in kept.blocks:
        answer = await kept.get(block, "raw")
        assert answer.content == block.data and answer.headers["content-length"] == str(len(block.data))
    car = await kept.get(root, "car")
    assert read_car(car.content) == (root.cid, {block.cid: block.data for block in kept.blocks})
    ranged = await kept.get(part, "raw", range="bytes=10-19")
    assert (ranged.status_code, ranged.content) == (206, part.data[10:20])
    blocks = kept.vault.blocks(os.urandom(LARGE))
    await kept.vault.keep(blocks)
    car = await kept.get(blocks[0], "car")  # sent in pieces
    assert read_car(car.content) == (blocks[0].cid, {block.cid: block.data for block in blocks})


@pytest.mark.parametrize("damage", ["lost", "cut", "longer"])
async def test_a_block_that_is_lost_or_has_another_size_is_not_found(kept, damage):
    root, part = kept.blocks
    (file,) = [file for file in folder(kept.vault).iterdir() if file.name.startswith(part.cid)]
    whole = file.read_bytes()
    if damage == "lost":
        file.unlink()
    else:
        file.write_bytes(whole[:-1] if damage == "cut" else whole + b"x")
    for block, form in ((part, "raw"), (root, "car")):
        assert (await kept.get(block, form)).status_code == 404
    assert (await kept.get(root, "raw")).content == root.data, "what is there is given out"
    file.write_bytes(bytes(len(whole)))
    assert (await kept.get(part, "raw")).content == bytes(len(whole)), "not hashed again (docs/decisions/0601)"
