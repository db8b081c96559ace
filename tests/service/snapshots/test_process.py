"""The real service on a real port: streamed uploads, kill -9 in the middle of an upload, and a full disk."""

import threading
import time
from typing import Any

import httpx2
import pytest
from tests.support.raw_connections import ENTRIES
from tests.support.remote_vaults import MIB, ROOMY, RemoteVault
from tests.support.serving import becomes_true
from tests.support.soak import SOAK, cases
from tests.support.vault_tokens import AUDIENCE

from holdfast.content.cars import read_car

# These tests fill the storage with a DID that no chain confirms.
DELAYS_S = (0.05, 0.15, 0.3, 0.6) if SOAK else (0.15,)
UNLIMITED = {"snapshots_free_bytes": "0", "snapshots_bytes_unconfirmed": str(2048 * MIB)}


@pytest.fixture
def vault():
    return RemoteVault()


def test_two_nodes_on_postgresql_keep_one_set_of_snapshots(serve, vault, fresh_postgres_url, tmp_path):
    shared = {"database_url": fresh_postgres_url, "snapshots_url": f"file://{tmp_path}/shared"}
    nodes = [serve(registrar_did=AUDIENCE, **UNLIMITED, **shared) for _ in range(2)]
    vault.register(nodes[0])
    blocks = vault.snapshot(MIB + 17)
    assert becomes_true(lambda: vault.upload(nodes[1], blocks).status_code == 200), "503 only while the machine is busy"
    for node in nodes:
        assert "HOLDFAST_SNAPSHOTS_URL" in node.log.read_text(), "each node says that the folder must be shared"
        with node.client() as client:
            car = client.get(f"/ipfs/{blocks[0].cid}?format=car")
        assert car.status_code == 200 and len(read_car(car.content)[1]) == len(blocks)


@pytest.mark.parametrize("entry", cases({**ENTRIES, "uvicorn": {"server": "uvicorn"}}, *ENTRIES))
def test_up_and_down_through_every_entry_while_clients_leave_in_the_middle_of_an_answer(serve, vault, entry):
    server = serve(registrar_did=AUDIENCE, **UNLIMITED, **entry)
    vault.register(server)
    blocks = vault.snapshot(3 * MIB + 17)
    answer = vault.upload(server, blocks)
    assert answer.status_code == 200, answer.text
    for path in (f"/ipfs/{blocks[1].cid}?format=raw", f"/ipfs/{blocks[0].cid}?format=car") * 5:
        with server.client() as client, client.stream("GET", path) as leaves:
            assert leaves.status_code == 200 and next(leaves.iter_raw(1000)) != b""
    _is_whole(server, blocks)
    with server.client() as client:
        car = client.get(f"/ipfs/{blocks[0].cid}", headers={"Accept": "application/vnd.ipld.car"})
        assert read_car(car.content) == (blocks[0].cid, {block.cid: block.data for block in blocks})
        assert int(car.headers["content-length"]) == len(car.content) and "transfer-encoding" not in car.headers
        head = client.head(f"/ipfs/{blocks[0].cid}?format=car")
        assert head.headers["content-length"] == car.headers["content-length"] and head.content == b""
        pins = client.get("/pins", headers=vault.bearer(time.time())).json()
        deleted = client.delete(f"/pins/{pins['results'][0]['requestid']}", headers=vault.bearer(time.time()))
        assert (deleted.status_code, deleted.content) == (202, b"")
    assert server.stop() == 0
    assert "request failed" not in server.log.read_text() and "Traceback" not in server.log.read_text()


def test_what_was_acknowledged_survives_kill_9_and_half_an_upload_leaves_nothing(serve, vault):
    """After the service has been killed repeatedly during uploads, every acknowledged snapshot must be complete."""
    data, acknowledged = None, list[tuple[Any, ...]]()
    for delay in DELAYS_S:
        server = serve(data, **ROOMY)
        data = server.data
        if not acknowledged:
            vault.register(server)
            blocks = vault.snapshot(200_000)
            assert vault.upload(server, blocks).status_code == 200
            acknowledged.append(blocks)
        acknowledged += _upload_until_killed(server, vault, delay)
    server = serve(data, **ROOMY)
    for blocks in acknowledged:
        _is_whole(server, blocks)
    with server.client() as client:
        headers = vault.bearer(time.time())
        roots = {pin["pin"]["cid"] for pin in client.get("/pins?limit=1000", headers=headers).json()["results"]}
        assert {blocks[0].cid for blocks in acknowledged} <= roots
        for root in roots:  # including one whose acknowledgement was lost
            car = client.get(f"/ipfs/{root}?format=car")
            assert read_car(car.content)[0] == root


def _upload_until_killed(server, vault, delay):
    taken = []

    def run():
        while True:
            blocks = vault.snapshot(150_000)
            try:
                if vault.upload(server, blocks).status_code != 200:
                    return
            except httpx2.HTTPError:
                return
            taken.append(blocks)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(delay)
    server.kill_all()
    for thread in threads:
        thread.join()
    return taken


def test_a_full_disk_is_said_and_loses_nothing(serve, vault, small_disk):
    if small_disk is None:
        pytest.skip("this user may not mount a tmpfs")
    server = serve(registrar_did=AUDIENCE, **UNLIMITED, snapshots_url=f"file://{small_disk}/blocks")
    vault.register(server)
    kept = vault.snapshot(2 * MIB)
    assert vault.upload(server, kept).status_code == 200
    refused = vault.upload(server, vault.snapshot(8 * MIB))
    assert refused.status_code == 507 and refused.json()["error"]["reason"] == "INSUFFICIENT_STORAGE"
    _is_whole(server, kept)
    with server.client() as client:
        assert client.get("/readyz").status_code == 200
    names = {file.name.partition(".")[0] for file in (small_disk / "blocks").iterdir()}
    assert names == {block.cid for block in kept}, "what was stored of the refused one has made way"
    assert vault.upload(server, vault.snapshot(1 * MIB)).status_code == 200


def _is_whole(server, blocks):
    with server.client() as client:
        for block in blocks:
            assert client.get(f"/ipfs/{block.cid}?format=raw").content == block.data
