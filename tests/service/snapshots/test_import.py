"""POST /api/v0/dag/import accepts uploads in the form that Kubo's RPC uses."""

import json
import os

import pytest
from tests.support.snapshot_vaults import folder, plain_manifest

from holdfast.content import cars
from holdfast.content.cars import car_begin, read_car, section_begin, write_car
from holdfast.content.cids import raw_block, verified
from holdfast.content.ipld import dag_cbor_block, link


async def test_a_snapshot_is_taken_and_read_back(vault):
    blocks = vault.blocks(b"s" * (2 * 1024 * 1024 + 5))
    answer = await vault.upload(write_car(blocks[0].cid, blocks), query="?stats=true")
    assert answer.status_code == 200, answer.text
    first, second, rest = answer.text.split("\n")
    assert json.loads(first) == {"Root": {"Cid": {"/": blocks[0].cid}, "PinErrorMsg": ""}}
    assert rest == ""
    # The first two chunks are equal, so there are three different blocks: the root, the first chunk and the last chunk.
    assert json.loads(second)["Stats"]["BlockCount"] == 3
    car = await vault.api.http.get(f"/ipfs/{blocks[0].cid}?format=car")
    assert read_car(car.content) == (blocks[0].cid, {block.cid: block.data for block in blocks})
    await vault.keep(blocks)
    (pin,) = await vault.pins()
    assert pin["status"] == "pinned" and pin["pin"] == {"cid": blocks[0].cid}
    assert len(list(folder(vault).iterdir())) == 3, "the same snapshot again is kept once"


async def test_an_old_root_the_largest_vault_and_any_order_with_repeated_blocks_are_taken(vault, monkeypatch):
    sealed = raw_block(os.urandom(3_000_000))
    old = dag_cbor_block({"manifest": plain_manifest(vault).fields(), "vault": link(sealed.cid)})
    assert await vault.keep((old, sealed)) == old.cid
    assert (await vault.api.http.get(f"/ipfs/{sealed.cid}?format=raw")).content == sealed.data
    hashed = []
    monkeypatch.setattr(cars, "verified", lambda cid, data: hashed.append(cid) or verified(cid, data))
    largest = vault.blocks(os.urandom(16 * 1024 * 1024))
    await vault.keep(largest)
    assert hashed == [block.cid for block in largest], "hashing is a third of what an upload costs, so it is done once"
    root, *rest = vault.blocks(os.urandom(1_500_000))
    parts = [car_begin(root.cid)]
    for block in (*reversed(rest), root, *rest):
        parts += [section_begin(block.cid, len(block.data)), block.data]
    assert (await vault.upload(b"".join(parts))).status_code == 200
    car = await vault.api.http.get(f"/ipfs/{root.cid}?format=car")
    assert read_car(car.content) == (root.cid, {block.cid: block.data for block in (root, *rest)})


async def test_an_import_without_a_pin_waits_an_hour_for_one(vault):
    kept, left = vault.blocks(), vault.blocks()
    for blocks in (kept, left):
        answer = await vault.upload(write_car(blocks[0].cid, blocks), query="?pin-roots=false")
        assert answer.status_code == 200
    assert await vault.pins() == []
    assert (await vault.pin(kept[0].cid)).json()["status"] == "pinned"
    for after_s, deleted in ((3599, 0), (1, 2)):
        vault.api.clock.now += after_s
        assert (await vault.api.service.snapshots.collect())["deleted"] == deleted
    assert (await vault.api.http.get(f"/ipfs/{kept[0].cid}?format=raw")).status_code == 200


@pytest.mark.parametrize("size", [1, 7, 70_000])
async def test_a_browsers_form_is_taken_in_pieces_of_any_size(vault, size):
    """The form has the file name `blob`, lower-case header names, and a query string in the field name."""
    blocks = vault.blocks(os.urandom(300 if size == 1 else 200_000))
    boundary = "----WebKitFormBoundaryabcdefghijklmnop"
    head = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file?mode=420"; filename="blob"\r\n'
        "content-type: application/octet-stream\r\n\r\n"
    )
    body = head.encode() + write_car(blocks[0].cid, blocks) + f"\r\n--{boundary}--\r\n".encode()
    headers = {**vault.token(), "Content-Type": f'multipart/form-data; boundary="{boundary}"'}

    async def pieces():
        for at in range(0, len(body), size):
            yield body[at : at + size]

    assert (await vault.api.http.post("/api/v0/dag/import", content=pieces(), headers=headers)).status_code == 200
