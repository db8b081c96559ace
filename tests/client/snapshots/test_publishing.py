"""Publishing snapshots: what is sent, what is recorded, the state after a failure, and conflicts between devices."""

from __future__ import annotations

import contextlib

import pytest
from tests.client.snapshots.devices import SECRET, Device
from tests.client.snapshots.place_double import PlaceDouble

from holdfast.client import types
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.publishing import SnapshotConflict, SnapshotRolledBack
from holdfast.client.storage.pinning import PinFailed
from holdfast.client.ucan import UcanVerifier
from holdfast.client.vault.keys import SecretKey
from holdfast.content import records
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError


@pytest.fixture
def place():
    return PlaceDouble()


@pytest.fixture
async def device(tmp_path, place):
    async with Device(tmp_path / "one", place) as device:
        await device.made()
        yield device


async def record_of(device, place):
    name = await device.name()
    return records.read_record(name, place.records[name])


async def test_the_newest_revision_is_uploaded_pinned_and_named(device, place):
    state = await device.client.publish_snapshot()
    stored = device.store.load()
    record = await record_of(device, place)
    assert (state.status, state.sequence, state.acknowledged_revision) == ("pinned", 1, stored.revision)
    assert record.root_cid == state.acknowledged_root == stored.manifest.root_cid
    assert list(dict.fromkeys(device.states)) == ["queued", "pinning", "pinned"]
    meta = {"vault": stored.manifest.did}
    assert place.pins["r1"]["pin"] == {"cid": state.acknowledged_root, "name": "vault", "meta": meta}


async def test_nothing_goes_up_twice_and_a_change_continues_the_line(device, place):
    first = await device.client.publish_snapshot()
    asked = len(place.requests)
    assert await device.client.publish_snapshot() == first
    assert len(place.requests) == asked
    await device.change()
    second = await device.client.publish_snapshot()
    assert (second.sequence, second.acknowledged_root != first.acknowledged_root) == (2, True)
    assert (await snapshot_at(place, second.acknowledged_root)).manifest.root_cid == first.acknowledged_root


async def snapshot_at(place, root):
    from holdfast.client.storage.gateway import AsyncGateway

    gateway = AsyncGateway("https://vault.example", None, transport=place.transport)
    try:
        return await gateway.snapshot(root)
    finally:
        await gateway.close()


async def test_a_token_is_the_vaults_invocation_for_this_service(device, place):
    await device.client.publish_snapshot()
    await device.change()
    before = device.store.load().revision
    await device.client.publish_snapshot()
    assert device.store.load().revision == before, "a token is not a change of the vault"
    tokens = [token.removeprefix("Bearer ") for token in place.tokens]
    assert len(set(tokens)) == len(tokens)
    did = (await device.vault.status()).did
    with UcanVerifier() as verifier:
        claims = verifier.verify(
            tokens[0], audience="did:web:vault.example", subject=did, command="/snapshots/write", args={}
        )
    assert claims.kind == "invocation"
    assert claims.expiration is not None
    assert tokens[0].startswith("C")


@pytest.mark.parametrize("lost", ["POST /api/v0/dag/import", "POST /pins", "GET /pins", "PUT /routing"])
async def test_a_lost_answer_leaves_something_to_go_on_with(device, place, lost):
    place.lost_answers_to.add(lost)
    with pytest.raises(NetworkError):
        await device.client.publish_snapshot()
    assert (await device.client.snapshot_state()).status == "failed"
    await device.change("meanwhile")
    state = await device.client.publish_snapshot()
    assert state.status == "pinned"
    assert state.acknowledged_revision == device.store.load().revision
    assert (await record_of(device, place)).root_cid == state.acknowledged_root


async def test_a_refusal_reaches_the_caller_in_the_services_words(device, place):
    place.refusal = (409, "INSUFFICIENT_FUNDS", "64 snapshots are kept; delete older pins")
    with pytest.raises(RequestRefused, match="delete older pins") as caught:
        await device.client.publish_snapshot()
    assert caught.value.code == "INSUFFICIENT_FUNDS"
    state = await device.client.snapshot_state()
    assert state.status == "failed"
    assert "delete older pins" in state.reason


async def test_a_pin_that_fails_says_why(device, place):
    place.steps, place.details = ("queued", "failed"), "no room left"
    with pytest.raises(PinFailed, match="no room left"):
        await device.client.publish_snapshot()


async def test_old_pins_are_given_up(tmp_path, place):
    config = types.SnapshotConfig(automatic=False, pinned=2)
    async with Device(tmp_path, place, config) as device:
        await device.made()
        for number in range(4):
            await device.change(str(number))
            await device.client.publish_snapshot()
        assert sorted(place.pins) == ["r3", "r4"]


async def test_a_place_that_goes_back_is_told(device, place):
    await device.client.publish_snapshot()
    older = dict(place.records)
    await device.change()
    await device.client.publish_snapshot()
    place.records = older
    await device.change("again")
    with pytest.raises(SnapshotRolledBack, match="sequence 1, and this device has seen 2"):
        await device.client.publish_snapshot()


async def test_a_locked_vault_waits(device):
    await device.vault.lock()
    with pytest.raises(ClientStateError, match="locked"):
        await device.client.publish_snapshot()


@contextlib.asynccontextmanager
async def second_device(folder, place, first):
    async with Device(folder, place) as device:
        await device.client.recover(key=SECRET, name=await first.name())
        yield device


@pytest.mark.parametrize("version", ["here", "there"])
async def test_two_devices_that_both_changed(device, place, tmp_path, version):
    await device.client.publish_snapshot()
    async with second_device(tmp_path / "two", place, device) as other:
        await device.change("first")
        await device.client.publish_snapshot()
        await other.change("second")
        with pytest.raises(SnapshotConflict):
            await other.client.publish_snapshot()
        state = await other.client.snapshot_state()
        assert state.status == "conflict"
        (difference,) = await other.client.compare_snapshots(SECRET)
        assert (difference.table, difference.only_here, difference.only_there) == ("services", ("second",), ("first",))
        ended = await other.client.choose_snapshot(version, SECRET)
        assert (ended.status, ended.other_root) == ("pinned", None)
        rows = await other.vault.exec("resource:services action:list")
        assert [row["id"] for row in rows.result] == [{"here": "second", "there": "first"}[version]]
        assert (await record_of(other, place)).root_cid == ended.acknowledged_root
        assert state.other_root in place.blocks
        assert len(other.store.revisions((await other.vault.status()).did)) > 1


async def test_two_devices_at_the_same_moment(device, place, tmp_path):
    await device.client.publish_snapshot()
    async with second_device(tmp_path / "two", place, device) as other:
        await device.change("first")
        await other.change("second")
        publish = other.vault.publish

        async def late(*given):
            record = await publish(*given)
            await device.client.publish_snapshot()
            return record

        other.vault.publish = late
        with pytest.raises(SnapshotConflict):
            await other.client.publish_snapshot()
        assert (await other.client.snapshot_state()).status == "conflict"


async def test_another_service_needs_its_own_token_alone(tmp_path, place):
    config = types.SnapshotConfig(
        automatic=False, pinning_url="https://pins.example", access_token="given", upload_url="https://kubo.example"
    )
    async with Device(tmp_path, place, config) as device:
        await device.made()
        await device.client.publish_snapshot()
        assert {token for token in place.tokens if token == "Bearer given"}
        assert "given" not in repr(config)


async def test_a_kubo_node_without_a_pinning_service_pins_what_it_imports(tmp_path, place):
    config = types.SnapshotConfig(automatic=False, pinning_url="")
    async with Device(tmp_path, place, config) as device:
        await device.made()
        assert (await device.client.publish_snapshot()).status == "pinned"
        assert not place.pins


async def test_an_import_that_another_root_answers_is_no_upload(device, place, monkeypatch):
    other = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"
    answer = b'{"Root":{"Cid":{"/":"%s"},"PinErrorMsg":""}}\n' % other.encode()
    import httpx

    monkeypatch.setattr(PlaceDouble, "_import", lambda *_: httpx.Response(200, content=answer))
    with pytest.raises(StorageError, match="another root"):
        await device.client.publish_snapshot()


async def test_the_boot_status_says_whether_the_place_works(device, place):
    assert device.vault.boot_status.helia
    place.lost_requests = 2  # a gateway returns records on two paths
    with pytest.raises(NetworkError):
        await device.client.publish_snapshot()
    assert not device.vault.boot_status.helia
    await device.client.publish_snapshot()
    assert device.vault.boot_status.helia
    steps = [(event.status, event.error) for event in device.vault.boot_log.events if event.subsystem == "helia"]
    assert [status for status, _ in steps] == ["booting", "ready", "failed", "booting", "ready"]
    assert "no answer" in steps[2][1]


async def test_no_snapshot_that_a_removed_key_opens_stays_pinned(device, place):
    other = SecretKey(b"o" * 32, id="other")
    await device.vault.add_key(other)
    await device.client.publish_snapshot()
    await device.change()
    await device.client.publish_snapshot()
    assert len(place.pins) == 2
    await device.vault.remove_key("secret", "other")
    await device.client.publish_snapshot()
    (pin,) = place.pins.values()
    assert pin["pin"]["cid"] == (await device.client.snapshot_state()).acknowledged_root
    await device.change("later")
    await device.client.publish_snapshot()
    assert len(place.pins) == 2
