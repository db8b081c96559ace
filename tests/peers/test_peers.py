"""Other implementations read Holdfast's snapshots and use the service, and Holdfast reads their files and records."""

import asyncio
import json
import os
import secrets
import subprocess
from pathlib import Path

import pytest
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.peer.id import ID
from tests.client.snapshots.devices import MANUAL, Device
from tests.content.content_vectors import VECTORS, cases, octets
from tests.support.running_service import running_service

from holdfast.client.snapshots.tokens import did_of_service, service_token
from holdfast.content import cars, names, records
from holdfast.content.bases import from_multibase
from holdfast.content.cids import raw_block
from holdfast.content.errors import ContentError
from holdfast.world import node

FOLDER = Path(__file__).parent
ROOT = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"

pytestmark = pytest.mark.skipif(
    not (FOLDER / "node_modules").is_dir(), reason="tests/peers/node_modules is missing: make setup installs it"
)


def peer(task, given):
    """Return the JavaScript implementation's result."""
    command = [str((node.folder() or Path("/usr")) / "bin" / "node"), str(FOLDER / "peers.js"), task]
    more = {"env": {**os.environ, "PATH": node.search_path()}, "cwd": FOLDER, "timeout": 90}
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("task", ["readCar", "heliaCar"])
def test_they_read_our_files(task):
    ours = [parameter.values[0] for parameter in cases("car/valid")]
    for case, read in zip(ours, peer(task, [{"car": octets(case["car"]).hex()} for case in ours]), strict=True):
        assert read["blocks"] == {block["cid"]: block["data"] for block in case["blocks"]}
        assert read.get("roots", [case["root"]]) == [case["root"]]


def test_we_read_their_files():
    (case, *_) = [parameter.values[0] for parameter in cases("car/valid")]
    blocks = [[block["cid"], block["data"]] for block in case["blocks"]]
    written = peer("writeCar", {"root": case["root"], "blocks": blocks})["car"]
    assert cars.read_car(bytes.fromhex(written)) == (case["root"], {cid: bytes.fromhex(data) for cid, data in blocks})
    assert written == case["car"]


def test_we_refuse_what_they_do_not_check():
    """@ipld/car does not verify block hashes."""
    good, lie = raw_block(b"good"), raw_block(b"lie")
    written = peer("writeCar", {"root": good.cid, "blocks": [[good.cid, lie.data.hex()]]})["car"]
    assert peer("readCar", {"car": written})["blocks"] == {good.cid: lie.data.hex()}
    with pytest.raises(ContentError, match="does not match"):
        cars.read_car(bytes.fromhex(written))


def test_they_read_our_records():
    ours = json.loads((VECTORS / "ipns" / "records.json").read_text())["records"]
    given = [{"name": record["ipns_name"], "record": record["record"]} for record in ours]
    told = [(read["value"], read["sequence"]) for read in peer("readRecord", given)]
    assert told == [(f"/ipfs/{record['root_cid']}", record["sequence"]) for record in ours]
    assert peer("heliaReadRecord", given) == [{"value": f"/ipfs/{record['root_cid']}"} for record in ours]


@pytest.mark.parametrize("seed", ["00" * 32, "01" * 32, "ff" * 32])
def test_py_libp2p_gives_keys_the_same_names(seed):
    """py-libp2p supports peer IDs but not IPNS; an IPNS name is the peer ID of the record's key, written as a CID."""
    pair = create_new_key_pair(bytes.fromhex(seed))
    key = pair.public_key.to_bytes()
    theirs = ID.from_pubkey(pair.public_key)
    assert names.peer_id_of(key) == theirs.to_base58()
    assert from_multibase(names.name_of(key)) == bytes([1, 0x72]) + theirs.to_bytes()
    assert names.public_key_of(theirs.to_base58()) == key
    assert theirs.extract_public_key() is None or theirs.extract_public_key().to_bytes() == key


@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("heliaWriteRecord", {"value": ROOT}),
        *(("writeRecord", {"seed": "01" * 32, "value": f"/ipfs/{ROOT}", "sequence": 1, "v1": v1}) for v1 in (True, False)),
    ],
    ids=["helia", "with fields of version 1", "version 2 alone"],
)  # fmt: skip
def test_we_read_their_records(task, more):
    made = peer(task, more)
    read = records.read_record(made["name"], bytes.fromhex(made["record"]))
    assert (read.root_cid, read.sequence, read.name) == (ROOT, 1, made["name"])


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), MAX_REGISTRATIONS_PER_IP="1000") as running:
        yield running


@pytest.fixture
async def device(tmp_path, service):
    async with Device(tmp_path, config=MANUAL, url=service.base_url) as device:
        await device.made()
        await device.client.register(handle="p" + secrets.token_hex(6))
        yield device


async def asked(*given):
    return await asyncio.to_thread(peer, *given)


async def test_kubos_client_uploads_and_a_pinning_client_pins(device, service):
    taken = await device.vault_snapshot()

    async def told(task, **given):
        token = await service_token(device.vault, did_of_service(service.base_url))
        return await asked(task, {"url": service.base_url, "token": token, **given})

    assert (await told("kubo", car=taken.to_car().hex()))["roots"] == [{"cid": taken.root_cid, "error": ""}]
    answer = await told("pins", cid=taken.root_cid)
    assert answer == {"status": "pinned", "cid": taken.root_cid, "delegates": 1, "listed": 1, "left": 0}


async def test_verified_fetch_reads_a_snapshot_and_follows_the_name_to_the_newest(device, service):
    await device.client.publish_snapshot()
    await device.change()
    root, name = (await device.client.publish_snapshot()).acknowledged_root, await device.name()
    blocks = (await device.gateway.snapshot(root)).blocks
    fetched = await asked("verifiedFetch", {"url": service.base_url, "cids": [block.cid for block in blocks]})
    assert fetched == {block.cid: {"status": 200, "bytes": block.data.hex()} for block in blocks}
    fetched = await asked("verifiedFetch", {"url": service.base_url, "name": name})
    assert fetched[name] == {"status": 200, "bytes": blocks[0].data.hex()}


async def test_their_validator_takes_the_vaults_own_record(device):
    state = await device.client.publish_snapshot()
    name = await device.name()
    record = await device.gateway.record(name)
    read = await asked("readRecord", {"name": name, "record": record.data.hex()})
    assert (read["value"], read["sequence"]) == (f"/ipfs/{state.acknowledged_root}", 1)
    read = await asked("heliaReadRecord", {"name": name, "record": record.data.hex()})
    assert read == {"value": f"/ipfs/{state.acknowledged_root}"}
