"""Gateway fallback and pinning against stand-ins on the wire, on both faces."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from tests.support.pinning_service import PinningService
from tests.support.running_service import Awaited, json_server

from holdfast.client.blocking.gateway import Gateway
from holdfast.client.blocking.pinning import Pinning
from holdfast.client.http.calls import Retries
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway, store_snapshot
from holdfast.client.storage.pinning import PIN_MOVES, AsyncPinning, may_become
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import PinRequest, PinStatus, VaultManifest
from holdfast.wire.client_errors import NetworkError, StorageError

MANIFEST = VaultManifest(root_cid=None, did="did:new:0x01", updated_at=1, wasm_version="ab", schema_version=1)
SNAPSHOT = snapshots.take(MANIFEST, b"sealed" * 100)
QUICK = Retries(first_s=0.001, longest_s=0.01)


def read_both(url, tmp_path):
    with VaultStore(directory=tmp_path / "a") as store:
        gateway = Gateway(url, store)
        try:
            blocking = gateway.snapshot(SNAPSHOT.root_cid)
        finally:
            gateway.close()

    async def awaited():
        with VaultStore(directory=tmp_path / "b") as store:
            gateway = AsyncGateway(url, store)
            try:
                first = await gateway.snapshot(SNAPSHOT.root_cid)
                return first, await gateway.snapshot(SNAPSHOT.root_cid)
            finally:
                await gateway.close()

    return [blocking, *asyncio.run(awaited())]


def test_missing_blocks_come_from_the_gateway_once(tmp_path):
    asked = []

    def answer(_method, path, _body):
        asked.append(path)
        return 200, {block.cid: block.data for block in SNAPSHOT.blocks}[path.split("/")[2].split("?")[0]]

    with json_server(answer) as url:
        assert read_both(url, tmp_path) == [SNAPSHOT] * 3
    assert len(asked) == 4
    assert asked[0] == f"/ipfs/{SNAPSHOT.root_cid}?format=raw"


@pytest.mark.parametrize("which", [0, 1], ids=["root", "vault"])
def test_a_lying_gateway_is_refused(tmp_path, which):
    def answer(_method, path, _body):
        data = {block.cid: block.data for block in SNAPSHOT.blocks}
        data[SNAPSHOT.blocks[which].cid] = SNAPSHOT.blocks[which].data[:-1] + b"!"
        return 200, data[path.split("/")[2].split("?")[0]]

    with json_server(answer) as url, pytest.raises(StorageError, match="does not match its CID"):
        read_both(url, tmp_path)


def test_a_gateway_without_the_block_is_a_network_error(tmp_path):
    with json_server(lambda *_: (404, b"no")) as url, pytest.raises(NetworkError):
        read_both(url, tmp_path)


def test_a_stored_snapshot_needs_no_gateway(tmp_path):
    with VaultStore(directory=tmp_path) as store:
        store.save(MANIFEST, b"sealed" * 100, 1)
        store_snapshot(store, SNAPSHOT)
        assert store.load().manifest.root_cid == SNAPSHOT.root_cid
        assert snapshots.read(SNAPSHOT.root_cid, store.get_block) == SNAPSHOT


@pytest.fixture(params=["blocking", "asyncio"])
def pinning(request):
    state = PinningService()
    with json_server(state) as url:
        kind = Pinning if request.param == "blocking" else AsyncPinning
        make = partial(kind, url, "secret-token", retries=QUICK)
        made = make() if kind is Pinning else Awaited(make)
        made.state = state
        yield made
        made.finish() if request.param == "asyncio" else made.close()


def test_the_life_of_a_pin(pinning):
    wanted = PinRequest(cid=SNAPSHOT.root_cid, name="vault", origins=("/ip4/127.0.0.1",), meta={"a": "b"})
    added = pinning.add(wanted)
    assert (added.status, added.pin, added.request_id) == (PinStatus.QUEUED, wanted, "r1")
    assert added.delegates == ("/dnsaddr/pin.example/p2p/Qm",)
    assert pinning.wait("r1", poll_s=0.001).status is PinStatus.PINNED
    assert [pin.request_id for pin in pinning.list(statuses=(PinStatus.PINNED,))] == ["r1"]
    assert pinning.list(statuses=(PinStatus.FAILED,)) == []
    assert pinning.replace("r1", PinRequest(cid=SNAPSHOT.root_cid)).status is PinStatus.QUEUED
    for pin in pinning.list():
        pinning.delete(pin.request_id)
    assert pinning.list() == []
    with pytest.raises(RequestRefused) as caught:
        pinning.get("r9")
    assert caught.value.status == 404


def test_reading_is_repeated_and_writing_is_not(pinning):
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    pinning.state.flaky = 2
    assert pinning.get("r1").request_id == "r1"
    assert [method for method, _ in pinning.state.requests] == ["POST", "GET", "GET", "GET"]


def test_a_failed_pin_is_a_storage_error(pinning):
    pinning.state.fails = True
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(StorageError, match="failed"):
        pinning.wait("r1", poll_s=0.001)


def test_waiting_has_an_end(pinning):
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(StorageError, match="in time"):
        pinning.wait("r1", within_s=-1)


def test_pins_move_only_as_decided():
    assert PIN_MOVES[PinStatus.QUEUED] == {PinStatus.PINNING}
    assert may_become(PinStatus.QUEUED, PinStatus.PINNED)
    assert may_become(PinStatus.FAILED, PinStatus.PINNED)
    assert not may_become(PinStatus.PINNED, PinStatus.QUEUED)
    assert not may_become(PinStatus.PINNED, PinStatus.FAILED)
