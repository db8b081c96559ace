"""Publishing snapshots: what is sent, what is recorded, the state after a failure, and conflicts between devices."""

import asyncio

import pytest
from tests.client.snapshots.devices import SECRET, Device
from tests.client.snapshots.fake_host import FakeHost

from holdfast.client import types
from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.client.ucan import UcanVerifier
from holdfast.wire.client_errors import NetworkError


@pytest.fixture
def host():
    return FakeHost()


@pytest.fixture
async def device(tmp_path, host):
    async with Device(tmp_path / "one", host) as device:
        await device.made()
        yield device


async def test_a_snapshot_that_is_only_written_to_a_file_leaves_nothing_to_upload(device):
    published = await device.client.publish_snapshot()
    await device.vault.snapshot()
    assert await device.client.snapshot_state() == published
    assert await device.client.publish_snapshot() == published


async def test_a_pin_and_a_token_are_the_vaults(device, host):
    root = (await device.client.publish_snapshot()).acknowledged_root
    did = (await device.vault.status()).did
    assert host.pins["r1"]["pin"] == {"cid": root, "name": "vault", "meta": {"vault": did}}
    await device.change()
    before = device.store.load().revision
    await device.client.publish_snapshot()
    assert device.store.load().revision == before, "a token is not a change of the vault"
    tokens = [token.removeprefix("Bearer ") for token in host.tokens]
    assert len(set(tokens)) == len(tokens)
    with UcanVerifier() as verifier:
        claims = verifier.verify(
            tokens[0], audience="did:web:vault.example", subject=did, command="/snapshots/write", args={}
        )
    assert claims.kind == "invocation"
    assert claims.expiration is not None
    assert tokens[0].startswith("C")


async def test_a_choice_is_about_the_version_that_an_upload_has_met_last(device, host, tmp_path):
    await device.client.publish_snapshot()
    async with Device(tmp_path / "two", host) as other:
        await other.client.recover(key=SECRET, name=await device.name())
        await other.change("second")
        await device.change("first")
        await device.client.publish_snapshot()
        with pytest.raises(SnapshotConflict):
            await other.client.publish_snapshot()
        await device.change("third")
        await device.client.publish_snapshot()
        both = other.client.publish_snapshot(), other.client.choose_snapshot("there", SECRET)
        await asyncio.gather(*both, return_exceptions=True)
        rows = await other.vault.exec("resource:services action:list")
        assert [row["id"] for row in rows.result] == ["first", "third"]


async def test_another_service_needs_its_own_token_alone_and_keeps_as_many_pins_as_configured(tmp_path, host):
    elsewhere = {"pinning_url": "https://pins.example", "upload_url": "https://kubo.example"}
    config = types.SnapshotConfig(automatic=False, access_token="given", pinned=2, **elsewhere)
    async with Device(tmp_path, host, config) as device:
        await device.made()
        for number in range(4):
            await device.change(str(number))
            await device.client.publish_snapshot()
        assert {token for token in host.tokens if token == "Bearer given"}
        assert "given" not in repr(config)
    assert sorted(host.pins) == ["r3", "r4"]


@pytest.mark.parametrize("named", [None, "did:web:named.example"])
async def test_another_pinning_service_gets_no_token_for_the_service(tmp_path, host, named):
    config = types.SnapshotConfig(automatic=False, pinning_url="https://pins.example", service_did=named)
    async with Device(tmp_path, host, config) as device:
        await device.made()
        await device.client.publish_snapshot()
    with UcanVerifier() as verifier:
        audiences = [verifier.verify(token.removeprefix("Bearer ")).audience for token in host.tokens]
    assert {named or "did:web:vault.example", "did:web:pins.example"} == set(audiences)


async def test_a_kubo_node_without_a_pinning_service_pins_what_it_imports(tmp_path, host):
    config = types.SnapshotConfig(automatic=False, pinning_url="")
    async with Device(tmp_path, host, config) as device:
        await device.made()
        assert (await device.client.publish_snapshot()).status == "pinned"
        assert not host.pins


async def test_the_boot_status_says_whether_the_host_works(device, host):
    assert device.vault.boot_status.helia
    host.lost_requests = 2  # a gateway returns records on two paths
    with pytest.raises(NetworkError):
        await device.client.publish_snapshot()
    assert not device.vault.boot_status.helia
    await device.client.publish_snapshot()
    assert device.vault.boot_status.helia
    steps = [(event.status, event.error) for event in device.vault.boot_log.events if event.subsystem == "helia"]
    assert [status for status, _ in steps] == ["booting", "ready", "failed", "booting", "ready"]
    assert "no answer" in steps[2][1]
