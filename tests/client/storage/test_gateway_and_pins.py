"""Gateway fallback and pinning with fake servers, in the blocking and the asyncio form."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.pinning_service import PinningService
from tests.support.running_service import Awaited, json_server
from tests.support.signed_records import sign_record
from tests.support.soak import FACES

from holdfast.client.blocking.gateway import Gateway
from holdfast.client.blocking.pinning import Pinning
from holdfast.client.http.calls import Retries
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway, block_call, store_snapshot
from holdfast.client.storage.name_records import Patience
from holdfast.client.storage.pinning import AsyncPinning, PinFailed, add_call, selection
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import PinRequest, PinStatus, VaultManifest
from holdfast.content import names
from holdfast.wire.client_errors import NetworkError, StorageError

MANIFEST = VaultManifest(root_cid=None, did="did:new:0x01", updated_at=1, wasm_version="ab", schema_version=1)
SNAPSHOT = snapshots.take(MANIFEST, b"sealed" * 100)
PUBLISHING = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
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


@pytest.fixture(params=FACES)
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
    wanted = PinRequest(cid=SNAPSHOT.root_cid, name="vault", origins=("/ip4/127.0.0.1/p2p/Qm1",), meta={"a": "b"})
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
    assert (caught.value.status, caught.value.code, caught.value.details) == (404, "NOT_FOUND", "no such pin")
    assert "no such pin" in str(caught.value)


def test_a_selection_is_the_apis_query():
    assert selection() == {"status": "queued,pinning,pinned,failed", "limit": "10"}
    everything = selection(
        cids=("a", "b"),
        name="n",
        match="ipartial",
        statuses=(PinStatus.PINNED,),
        before="b",
        after="a",
        meta={"k": "ö"},
    )
    assert everything == {
        "status": "pinned", "limit": "10", "cid": "a,b", "name": "n", "match": "ipartial",
        "before": "b", "after": "a", "meta": '{"k":"ö"}',
    }  # fmt: skip
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
def test_a_pin_keeps_the_apis_bounds(fields):
    with pytest.raises(ValueError, match=r"pin|origin"):
        add_call(PinRequest(cid=SNAPSHOT.root_cid, **fields))


async def test_each_request_may_have_a_token_of_its_own():
    seen, given = [], iter(("first", "second"))

    async def token():
        return next(given)

    def handler(request):
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json={"count": 0, "results": []})

    pinning = AsyncPinning("https://pins.example", token, transport=httpx.MockTransport(handler))
    await pinning.list()
    await pinning.list()
    await pinning.close()
    assert seen == ["Bearer first", "Bearer second"]


async def test_one_lying_gateway_among_several_is_passed_over(tmp_path):
    blocks = {block.cid: block.data for block in SNAPSHOT.blocks}

    def handler(request):
        cid = request.url.path.split("/")[2]
        return httpx.Response(200, content=b"a lie" if request.url.host == "liar" else blocks[cid])

    with VaultStore(directory=tmp_path) as store:
        gateway = AsyncGateway(["http://liar", "http://honest"], store, transport=httpx.MockTransport(handler))
        assert await gateway.snapshot(SNAPSHOT.root_cid) == SNAPSHOT
        await gateway.close()


def _record(sequence, root=SNAPSHOT.root_cid):
    return sign_record(PUBLISHING, root, sequence, datetime(2040, 1, 1, tzinfo=UTC), 60)


async def _newest_of(answers):
    gateway = AsyncGateway(
        [f"http://{name}" for name in answers],
        None,
        retries=Retries(attempts=1),
        transport=httpx.MockTransport(lambda request: answers[request.url.host](request)),
    )
    try:
        return await gateway.record(names.name_of(PUBLISHING.public_key().public_bytes_raw()))
    finally:
        await gateway.close()


async def test_the_newest_valid_record_wins():
    forged = _record(9)[:-1] + b"!"
    found = await _newest_of(
        {
            "old": lambda _: httpx.Response(200, content=_record(6)),
            "new": lambda _: httpx.Response(200, content=_record(8)),
            "forger": lambda _: httpx.Response(200, content=forged),
            "down": lambda _: httpx.Response(503),
            "none": lambda _: httpx.Response(404),
        }
    )
    assert found.sequence == 8


async def test_no_record_is_told_from_no_answer():
    assert await _newest_of({"a": lambda _: httpx.Response(404), "b": lambda _: httpx.Response(503)}) is None
    with pytest.raises(NetworkError):
        await _newest_of({"a": lambda _: httpx.Response(200, content=b"x"), "b": lambda _: httpx.Response(503)})


async def test_a_record_may_come_from_the_routing_path():
    def only_routing(request):
        if request.url.path.startswith("/ipns/"):
            return httpx.Response(406)
        return httpx.Response(200, content=_record(3))

    assert (await _newest_of({"a": only_routing})).sequence == 3


def test_reading_is_repeated_and_writing_is_not(pinning):
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    pinning.state.flaky = 2
    assert pinning.get("r1").request_id == "r1"
    assert [method for method, _ in pinning.state.requests] == ["POST", "GET", "GET", "GET"]


def test_a_failed_pin_is_a_storage_error(pinning):
    pinning.state.fails = True
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(PinFailed, match="no provider") as caught:
        pinning.wait("r1", poll_s=0.001)
    assert caught.value.details == "no provider"


def test_waiting_has_an_end(pinning):
    pinning.add(PinRequest(cid=SNAPSHOT.root_cid))
    with pytest.raises(StorageError, match="in time"):
        pinning.wait("r1", within_s=-1)


IMPATIENT = Patience(after_first_s=0.0, main_s=0.0)
NAME = names.name_of(PUBLISHING.public_key().public_bytes_raw())


async def _answers_of(answers, patience=IMPATIENT):
    """Return the answers of gateways that are given by host; the first is the one that must be waited for."""

    async def handler(request):
        answer = answers[request.url.host](request)
        return await answer if asyncio.iscoroutine(answer) else answer

    urls = [f"https://{name}" for name in answers]
    gateway = AsyncGateway(
        urls, None, retries=Retries(attempts=1), transport=httpx.MockTransport(handler), patience=patience
    )
    try:
        return await gateway.answers(NAME, absent_is_enough=True)
    finally:
        await gateway.close()


async def test_a_gateway_that_failed_is_not_asked_for_every_block():
    blocks, asked = {block.cid: block.data for block in SNAPSHOT.blocks}, []

    def handler(request):
        asked.append(request.url.host)
        return (
            httpx.Response(500)
            if request.url.host == "broken"
            else httpx.Response(200, content=blocks[request.url.path[6:]])
        )

    gateway = AsyncGateway(
        ["https://broken", "https://honest"], None, retries=Retries(attempts=1), transport=httpx.MockTransport(handler)
    )
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
            return httpx.Response(200, content=block.data)
        return httpx.Response(301, headers={"location": location})

    gateway = AsyncGateway(
        "https://gateway.example", None, retries=Retries(attempts=1), transport=httpx.MockTransport(handler)
    )
    if taken:
        assert await gateway.block(block.cid) == block.data
    else:
        with pytest.raises(NetworkError):
            await gateway.block(block.cid)
    await gateway.close()
    assert len(asked) <= 4


async def test_an_endless_or_oversized_answer_ends(monkeypatch):
    monkeypatch.setattr("holdfast.client.http.transport.WHOLE_REQUEST_S", 0.05)

    class Dripping(httpx.AsyncByteStream):
        async def __aiter__(self):
            yield b"x"
            await asyncio.Event().wait()

    dripping = HttpTransport(
        "https://slow.example",
        timeout=0.05,
        retries=Retries(attempts=1),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, stream=Dripping())),
    )
    with pytest.raises(NetworkError, match="in time"):
        await dripping.send(block_call(SNAPSHOT.root_cid))
    await dripping.close()
    found = await _answers_of({"large": lambda _: httpx.Response(200, content=bytes(20_000))})
    assert "larger than 10240 bytes" in str(found.failed["large"])
