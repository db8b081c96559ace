"""Gateway fallback and pinning with fake servers; vectors/flows/names.json has the records of names."""

import json

import httpx2
import pytest
from tests.support.running_service import json_server
from tests.support.vector_files import vectors

from holdfast.client.blocking.gateway import Gateway
from holdfast.client.blocking.pinning import Pinning
from holdfast.client.http.calls import Retries
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.pinning import AsyncPinning, PinFailed, selection
from holdfast.client.types import PinRequest, PinStatus, VaultManifest, VaultSnapshotConfig
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.content.names import name_of
from holdfast.wire.client_errors import NetworkError, StorageError

MANIFEST = VaultManifest(root_cid=None, did="did:new:0x01", updated_at=1, wasm_version="ab", schema_version=1)
SNAPSHOT = snapshots.take(MANIFEST, b"sealed" * 100)
BLOCKS = {block.cid: block.data for block in SNAPSHOT.blocks}
QUICK, ONCE = Retries(first_s=0.001, longest_s=0.01), Retries(attempts=1)


def cid_of(path):
    return path.split("/")[2].split("?")[0]


def gateway_of(handler, *urls, store=None, retries=ONCE):
    return AsyncGateway(urls, store, retries=retries, transport=httpx2.MockTransport(handler))


def test_missing_blocks_come_from_the_gateway_once(store):
    asked = []

    def answer(_method, path, _body):
        asked.append(path)
        return 200, BLOCKS[cid_of(path)]

    with json_server(answer) as url:
        gateway = Gateway(url, store)
        assert [gateway.snapshot(SNAPSHOT.root_cid) for _ in range(2)] == [SNAPSHOT] * 2
        gateway.close()
    assert len(asked) == 2
    assert asked[0] == f"/ipfs/{SNAPSHOT.root_cid}?format=raw"


@pytest.fixture
def pinning(host):
    host.steps = ("queued", "pinning", "pinned")
    made = Pinning("https://pins.example", "secret-token", retries=QUICK, transport=host.transport)
    yield made
    made.close()


def test_the_life_of_a_pin(pinning):
    meta = {"a": "b"}
    wanted = PinRequest(cid=SNAPSHOT.root_cid, name="vault", origins=("/ip4/127.0.0.1/p2p/Qm1",), meta=meta)
    added = pinning.add(wanted)
    assert (added.status, added.pin, added.request_id) == (PinStatus.QUEUED, wanted, "r1")
    assert added.delegates == ("/ip4/1.1.1.1/p2p/Q",)
    assert pinning.wait("r1", poll_s=0.001).status is PinStatus.PINNED
    assert [pin.request_id for pin in pinning.list(statuses=(PinStatus.PINNED,), meta=meta)] == ["r1"]
    assert pinning.list(statuses=(PinStatus.FAILED,), meta=meta) == []
    assert pinning.replace("r1", PinRequest(cid=SNAPSHOT.root_cid)).status is PinStatus.QUEUED
    for pin in pinning.list(meta=meta):
        pinning.delete(pin.request_id)
    assert pinning.list(meta=meta) == []
    with pytest.raises(RequestRefused, match="no such pin") as caught:
        pinning.get("r9")
    assert (caught.value.status, caught.value.code, caught.value.details) == (404, "NOT_FOUND", "no such pin")


def test_a_pin_is_read_again_but_not_written_and_is_not_waited_for_for_ever(pinning, host):
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    host.lost_requests = 2
    assert pinning.get("r1").request_id == "r1"
    assert [method for method, _ in host.requests] == ["POST", "GET", "GET", "GET"]
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(StorageError, match="in time"):
        pinning.wait("r2", within_s=-1)
    host.steps, host.details = ("queued", "pinning", "failed"), "no provider"
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(PinFailed, match="no provider") as caught:
        pinning.wait("r3", poll_s=0.001)
    assert caught.value.details == "no provider"


def test_a_selection_is_the_apis_query():
    assert selection() == {"status": "queued,pinning,pinned,failed", "limit": "10"}
    given = {"name": "n", "match": "ipartial", "before": "b", "after": "a"}
    everything = selection(cids=("a", "b"), statuses=(PinStatus.PINNED,), meta={"k": "ö"}, **given)
    assert everything == {"status": "pinned", "limit": "10", "cid": "a,b", "meta": '{"k":"ö"}', **given}
    for wrong in ({"limit": 0}, {"limit": 1001}, {"cids": ("a", "a")}, {"match": "like"}, {"statuses": ()}):
        with pytest.raises(ValueError, match=r"limit|match"):
            selection(**wrong)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "n" * 256},
        {"origins": tuple(f"/ip4/1.1.1.1/p2p/Q{number}" for number in range(21))},
        {"origins": ("/ip4/1.1.1.1",)},
        {"origins": ("/p2p/Q", "/p2p/Q")},
        {"meta": {str(number): "" for number in range(1001)}},
    ],
)
async def test_a_pin_keeps_the_apis_bounds(fields):
    with pytest.raises(ValueError, match=r"pin|origin"):
        await AsyncPinning("https://pins.example", "token").add(PinRequest(cid=SNAPSHOT.root_cid, **fields))


async def test_a_gateway_that_failed_is_not_asked_for_every_block():
    asked = []

    def handler(request):
        asked.append(request.url.host)
        broken = request.url.host == "broken"
        return httpx2.Response(500) if broken else httpx2.Response(200, content=BLOCKS[request.url.path[6:]])

    gateway = gateway_of(handler, "https://broken", "https://honest")
    assert await gateway.snapshot(SNAPSHOT.root_cid) == SNAPSHOT
    await gateway.close()
    assert asked.count("broken") == 1 and asked.count("honest") > 1


@pytest.mark.parametrize(
    ("location", "taken"),
    [
        ("https://other.example/x", True),
        ("/x", True),
        ("http://other.example/x", False),
        ("https://loop.example/", False),
    ],
)
async def test_redirects_to_https_are_followed_and_at_most_three(location, taken):
    block, asked = SNAPSHOT.blocks[-1], []

    def handler(request):
        asked.append(request.url.host)
        if request.url.path == "/x":
            return httpx2.Response(200, content=block.data)
        return httpx2.Response(301, headers={"location": location})

    gateway = gateway_of(handler, "https://gateway.example")
    if taken:
        assert await gateway.block(block.cid) == block.data
    else:
        with pytest.raises(NetworkError):
            await gateway.block(block.cid)
    await gateway.close()
    assert len(asked) <= 4


async def test_an_oversized_answer_ends():
    gateway = gateway_of(lambda _: httpx2.Response(200, content=bytes(20_000)), "https://large", "https://large/more")
    with pytest.raises(
        NetworkError, match=r"^Network: no gateway answers: (large: the answer is larger than 10240 bytes(; )?){2}$"
    ):
        await gateway.record(name_of(bytes(32)))
    await gateway.close()


async def test_the_only_host_is_named_that_sends_wrong_bytes():
    gateway = gateway_of(lambda _: httpx2.Response(200, content=b"<html>"), "https://only")
    for asked in (gateway.record(name_of(bytes(32))), gateway.block(SNAPSHOT.root_cid)):
        with pytest.raises(StorageError, match=r"^Storage: only: "):
            await asked
    await gateway.close()


@pytest.mark.parametrize("status", [200, 500])
async def test_a_vault_that_boots_asks_its_gateway_for_the_empty_block(store, status):
    asked = []

    def answer(_method, path, _body):
        asked.append(path)
        return status, b""

    with json_server(answer) as url:
        vault = AsyncVault(store, snapshots=VaultSnapshotConfig(gateway_url=url))
        assert (await vault.boot()).helia is (status == 200)
        await vault.close()
    assert asked == ["/ipfs/bafkqaaa?format=raw"]


FILE = vectors("service/pins")


def answering(answer):
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json=answer))
    return AsyncPinning("https://pins.example", "token", transport=transport, retries=ONCE)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
async def test_a_pin(case):
    answer = FILE["pin"] | case["more"]
    if not case["pin"]:
        with pytest.raises(NetworkError):
            await answering(answer).get("7")
        return
    assert (await answering(answer).get("7")).status == answer["status"]
    assert len(await answering({"count": 1, "results": [answer]}).list()) == 1


@pytest.mark.parametrize("answer", FILE["no_pins"], ids=json.dumps)
async def test_no_list_of_pins(answer):
    for asked in (answering(answer).list(), answering(answer).get("7")):
        with pytest.raises(NetworkError):
            await asked
