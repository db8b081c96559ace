"""What a DID whose registration the chain refused has stored: removable by its owner, and gone after thirty days."""

from tests.support.snapshot_vaults import registered

from holdfast.content.cars import write_car
from holdfast.rules.registration import Confirmation

DAY_S = 86400


async def settled(api, outcome):
    for row in await api.service.store.due(api.clock.now, 9):
        await api.service.store.settle(row.credential, outcome, 1, api.clock.now)


async def test_its_owner_lists_and_removes_it_but_adds_nothing_and_the_bytes_are_gone_after_thirty_days(
    keeper, vault, tmp_path
):
    cid = await vault.keep()
    await vault.keep()
    await settled(keeper, Confirmation.REFUSED)
    listed = next(pin for pin in await vault.pins() if pin["pin"]["cid"] != cid)
    path = f"/pins/{listed['requestid']}"
    assert (await keeper.get(path, headers=vault.token())).status_code == 200
    for refused in (await vault.pin(listed["pin"]["cid"]), await vault.upload(b"")):
        assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "DID_NOT_REGISTERED")
    assert (await keeper.http.delete(path, headers=vault.token())).status_code == 202
    assert [pin["pin"]["cid"] for pin in await vault.pins()] == [cid]
    keeper.clock.now += 31 * DAY_S
    await keeper.service.maintenance.expire()
    await keeper.service.snapshots.collect()
    assert (await keeper.http.get(f"/ipfs/{cid}?format=raw")).status_code == 404
    assert [file for file in (tmp_path / "snapshots").rglob("*") if file.is_file()] == []


async def test_an_unconfirmed_did_has_a_small_quota(make_api):
    api = make_api(snapshots_free_bytes="0", snapshots_bytes_unconfirmed="5000")
    vault = await registered(api)
    await vault.keep(vault.blocks(b"x" * 2000))
    blocks = vault.blocks(b"y" * 4000)
    car = write_car(blocks[0].cid, blocks)
    refused = await vault.upload(car)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (409, "INSUFFICIENT_FUNDS")
    await settled(api, Confirmation.CONFIRMED)
    assert (await vault.upload(car)).status_code == 200
