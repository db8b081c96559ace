"""After older data has been restored, unreferenced objects are deleted, and missing ones are reported and replaced."""

import os
from contextlib import suppress

import pytest
from tests.support.api import embedded
from tests.support.snapshot_vaults import folder, registered, snapshots_of

from holdfast.content.cars import write_car
from holdfast.service.bootstrap.stores import database
from holdfast.service.diagnosis.upstreams import see_snapshots
from holdfast.service.settings.values import read_settings
from holdfast.service.snapshots.port import BlocksUnavailable
from holdfast.service.store.snapshot_index import NewUpload

# Default settings: the service's default URL, and blocks stored next to the database.
SETTINGS = read_settings({})
pytestmark = embedded  # PostgreSQL does not list objects


def names(vault):
    return {file.name for file in folder(vault).iterdir()}


async def restored(make_api, tmp_path):
    """Return a vault whose second upload the restored database lacks, and the first upload's root and objects."""
    place = f"file://{tmp_path}/blocks"
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_url=place, data_dir=str(tmp_path / "one")))
    root = await vault.keep()
    database(read_settings({"HOLDFAST_DATA_DIR": str(tmp_path / "one")})).backup(tmp_path / "copy.db")
    known = names(vault)
    vault.api.clock.now += 1
    await vault.keep(vault.blocks(os.urandom(3000)))
    copy = f"sqlite:///{tmp_path}/copy.db"
    vault.api = make_api(
        snapshots_free_bytes="0", snapshots_url=place, data_dir=str(tmp_path / "two"), database_url=copy
    )
    return vault, root, known


async def test_what_an_older_database_does_not_know_is_deleted(make_api, tmp_path):
    vault, root, known = await restored(make_api, tmp_path)
    assert len(names(vault)) == len(known) + 2
    collected = await snapshots_of(vault).collect()
    assert (collected["strays"], collected["deleted"]) == (2, 2)
    assert names(vault) == known
    assert (await vault.api.http.get(f"/ipfs/{root}?format=car")).status_code == 200
    index, now = snapshots_of(vault).index, vault.api.clock()
    await index.begin_upload(NewUpload(upload_id="u", did=vault.did, now=now, expires_at=now + 60), lambda _usage: 10)
    (place,) = await index.insert_blocks(vault.did, "u", [("bafkrei-placed", 10)])
    assert await index.name_strays([place.key, "check-0123", "bafkrei.7#1", ".5"]) == 1, "an upload under way is none"
    assert place.key not in await index.garbage(10)


async def test_no_new_object_has_the_name_of_one_that_is_about_to_go(make_api, tmp_path):
    """A restored database issues the same numbers again; no new object may get the name of one that will be deleted."""
    vault, _, known = await restored(make_api, tmp_path)
    strays = names(vault) - known
    assert await snapshots_of(vault).index.name_strays(sorted(strays)) == 2
    root = await vault.keep()
    highest = max(int(name.rpartition(".")[2]) for name in strays)
    places = (await snapshots_of(vault).index.root(root)).blocks
    assert min(int(place.key.rpartition(".")[2]) for place in places) > highest
    await snapshots_of(vault).collect()
    assert (await vault.api.http.get(f"/ipfs/{root}?format=car")).status_code == 200


@pytest.mark.parametrize("refused", ["a listing", "a deletion"])
async def test_what_the_storage_refuses_keeps_no_garbage(vault, monkeypatch, refused):
    """Credentials may not allow listings; an object may be held."""
    snapshots = snapshots_of(vault)
    await vault.keep()
    held, *others = sorted(names(vault))
    if refused == "a listing":
        monkeypatch.setattr("obstore.list", lambda *_, **_options: (folder(vault) / held).rmdir())
        others.append(held)
    else:
        (folder(vault) / held).unlink()
        (folder(vault) / held).mkdir()
    (pin,) = await snapshots.index.pins(vault.did)
    await snapshots.index.remove_pin(vault.did, pin.request_id, vault.api.clock())
    for _ in range(2):
        with suppress(BlocksUnavailable):
            await snapshots.collect()
    assert names(vault) == {held} - {*others}


async def test_missing_blocks_are_told_and_the_next_upload_replaces_them(vault):
    blocks = vault.blocks(os.urandom(5000))
    root = await vault.keep(blocks)
    assert (await see_snapshots(SETTINGS, vault.api.service)).state == "ok"
    for file in folder(vault).iterdir():
        file.unlink()
    found = await see_snapshots(SETTINGS, vault.api.service)
    assert (found.state, found.found) == ("error", "2 blocks of 1 vaults' snapshots are missing")
    assert (await vault.api.http.get(f"/ipfs/{root}?format=car")).status_code == 404
    assert (await vault.upload(write_car(root, blocks))).status_code == 200
    assert (await see_snapshots(SETTINGS, vault.api.service)).state == "ok"
    assert (await vault.api.http.get(f"/ipfs/{root}?format=car")).status_code == 200
