"""POST /api/v0/dag/import: what is taken, in the form of Kubo's RPC."""

from __future__ import annotations

import json

from holdfast.content.cars import read_car, write_car

from .conftest import Vault


async def test_a_snapshot_is_taken_and_read_back(vault: Vault) -> None:
    blocks = vault.blocks(b"s" * (2 * 1024 * 1024 + 5))
    answer = await vault.upload(write_car(blocks[0].cid, blocks), query="?stats=true")
    assert answer.status_code == 200, answer.text
    first, second, rest = answer.text.split("\n")
    assert json.loads(first) == {"Root": {"Cid": {"/": blocks[0].cid}, "PinErrorMsg": ""}}
    assert rest == ""
    # The first two blocks are the same bytes, so there are three different ones: the root, that, and the last.
    assert json.loads(second)["Stats"]["BlockCount"] == 3
    for block in blocks:
        raw = await vault.api.http.get(f"/ipfs/{block.cid}?format=raw")
        assert raw.status_code == 200 and raw.content == block.data
    car = await vault.api.http.get(f"/ipfs/{blocks[0].cid}?format=car")
    assert read_car(car.content) == (blocks[0].cid, {block.cid: block.data for block in blocks})
    assert car.headers["content-length"] == str(len(car.content))
    (pin,) = await vault.pins()
    assert pin["status"] == "pinned" and pin["pin"] == {"cid": blocks[0].cid}
