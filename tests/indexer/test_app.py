import asyncio
import json
import threading

import pytest
from tests.support.fake_chain import text_data
from tests.support.index_client import Client, build_on, until_healthy

from holdfast.chain import values
from holdfast.indexer.asgi import IndexerApp
from holdfast.indexer.events import Decoder
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.store import StoreError
from holdfast.wire.keccak import alias_hash, checksum_address, did_hash

DID, ALIAS = "did:new:0x" + "ab" * 32, "alice"
CONTROLLER, OWNER = bytes.fromhex("c0" * 20), bytes.fromhex("0e" * 20)


def populate(chain):
    block = chain.mine(0)
    tx = b"\x07" * 32
    keys = [did_hash(DID), CONTROLLER]
    chain.emit(block, "DidRegistered(bytes32,address,string)", keys, text_data(b"bafycid"), tx)
    chain.emit(block, "AliasRegistered(bytes32,bytes32,address)", [alias_hash(ALIAS), *keys], "", tx)
    chain.emit(
        block, "AccountCreated(address,address,uint256,uint256,uint256)", [CONTROLLER, OWNER], "00" * 96, tx,
        address=bytes.fromhex("22" * 20),
    )  # fmt: skip


@pytest.fixture
async def client(tmp_path, chain):
    populate(chain)
    app = IndexerApp(build_on(tmp_path, chain))
    client = Client(app)
    await until_healthy(client)
    yield client
    await app.stop()


DID_SHOWN = {
    "found": True, "did_hash": "0x" + did_hash(DID).hex(), "controller": checksum_address(CONTROLLER),
    "metadata_cid": "bafycid", "active": True, "block_number": "1", "tx_hash": "0x" + "07" * 32,
}  # fmt: skip
ALIAS_SHOWN = {
    "found": True, "alias_hash": "0x" + alias_hash(ALIAS).hex(), "did_hash": "0x" + did_hash(DID).hex(),
    "active": True, "controller": checksum_address(CONTROLLER),
}  # fmt: skip
ACCOUNT_SHOWN = {
    "found": True, "account_address": checksum_address(CONTROLLER), "owner_address": checksum_address(OWNER),
    "block_number": "1", "tx_hash": "0x" + "07" * 32,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "names", "shown", "unknown"), [
    ("dids", [DID, DID_SHOWN["did_hash"], "0x" + did_hash(DID).hex().upper()], DID_SHOWN, "did:new:0x00"),
    ("aliases", ["ALICE", ALIAS_SHOWN["alias_hash"]], ALIAS_SHOWN, "bob"),
    ("accounts", ["0x" + CONTROLLER.hex(), "0x" + CONTROLLER.hex().upper()], ACCOUNT_SHOWN, "0x" + "00" * 20),
])  # fmt: skip
async def test_each_is_found_in_every_spelling_and_listed_and_no_other(client, kind, names, shown, unknown):
    for name in names:
        assert await client.get(f"/api/{kind}/{name}") == shown, name
    assert await client.get(f"/api/{kind}/{unknown}") == {"found": False}
    assert await client.get(f"/api/{kind}") == {kind: [shown], "next_cursor": None}


async def test_stats_health_and_progress(client):
    stats = {"total_dids": 1, "active_dids": 1, "total_aliases": 1, "total_accounts": 1, "last_block_number": 1}
    assert await client.get("/api/stats") == stats
    assert await client.get("/health") == {"ok": True, "chain": 84532}
    shown = await client.get("/api/progress")
    assert shown.pop("agreed_seconds_ago") < 60
    assert shown == {"last_block_number": 1, "chain_block_number": 1, "blocks_behind": 0, "failures": 0}


async def test_events_carry_what_their_kind_carries(client, chain):
    block_hash = "0x" + chain.blocks[1].hash.hex()
    place = {"block_number": "1", "block_hash": block_hash, "tx_hash": "0x" + "07" * 32}
    did, controller = "0x" + did_hash(DID).hex(), checksum_address(CONTROLLER)
    assert (await client.get("/api/events"))["events"] == [
        {
            "kind": "DidRegistered", **place, "log_index": 0, "did_hash": did, "controller": controller,
            "metadata_cid": "bafycid", "active": True,
        },
        {
            "kind": "AliasRegistered", **place, "log_index": 1, "did_hash": did, "controller": controller,
            "alias_hash": "0x" + alias_hash(ALIAS).hex(), "active": True,
        },
        {
            "kind": "AccountCreated", **place, "log_index": 2, "account_address": controller,
            "owner_address": checksum_address(OWNER),
        },
    ]  # fmt: skip


NOT_THERE = (404, "not_found")
NO_PARAMETER = (400, "Unknown query parameter. Known: none")


@pytest.mark.parametrize(("path", "query", "refused"), [
    ("/api/dids/nobody", "", (400, "Invalid did: expected a DID or its 32-byte hex hash")),
    ("/api/aliases/a b", "", (400, "Invalid alias: expected an alias or its 32-byte hex hash")),
    ("/api/accounts/0x12", "", (400, "Invalid account: expected 20-byte hex address")),
    *(
        (path, "active=true", NO_PARAMETER)
        for path in ("/health", "/api/stats", "/api/progress", f"/api/dids/{DID}")
    ),
    *((path, "", NOT_THERE) for path in ("/", "/api", "/api/didsx", "/api/dids/", "/api/dids/a/b")),
    *((path, "", NOT_THERE) for path in ("/api/stats/x", "/api/events/1", "/health/")),
])  # fmt: skip
async def test_bad_names_parameters_and_paths_are_refused(client, path, query, refused):
    status, _, body = await client.ask(path, query)
    assert (status, json.loads(body)) == (refused[0], {"error": refused[1]})


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_other_methods_are_405(client, method):
    status, headers, body = await client.ask("/api/dids", method=method)
    assert (status, json.loads(body), headers["allow"]) == (405, {"error": "method_not_allowed"}, "GET, HEAD")


@pytest.mark.parametrize("path", ["/health", "/api/dids", f"/api/dids/{DID}", "/nowhere"])
async def test_head_is_get_without_the_body(client, path):
    status, headers, body = await client.ask(path)
    again = await client.ask(path, method="HEAD")
    assert again == (status, headers, b"")
    assert headers["content-length"] == str(len(body))


class BrokenStore(SqliteIndexStore):
    async def open(self, identity):
        raise StoreError("down")


async def test_a_database_that_is_down_is_503_health_says_no_and_progress_knows_nothing(tmp_path, chain):
    client = Client(IndexerApp(build_on(tmp_path, chain, BrokenStore(tmp_path / "index.db"))))
    status, headers, body = await client.ask("/api/stats")
    assert (status, json.loads(body), headers["retry-after"]) == (503, {"error": "database_unavailable"}, "2")
    assert await client.get("/health") == {"ok": False, "chain": 84532}
    nothing = dict.fromkeys(("last_block_number", "chain_block_number", "blocks_behind", "agreed_seconds_ago"))
    assert await client.get("/api/progress") == {**nothing, "failures": 0}
    await client.app.stop()


class FailingStore(SqliteIndexStore):
    """A store that works until the test makes it fail, like a database that goes down while the indexer is running."""

    down = False
    hangs = False

    async def _first(self, *arguments):
        if self.hangs:
            await asyncio.sleep(3600)
        if self.down:
            raise StoreError("down")
        return await super()._first(*arguments)


@pytest.mark.parametrize("way", ["down", "hangs"])
async def test_health_says_no_as_soon_as_the_database_is_down(tmp_path, chain, way, monkeypatch):
    monkeypatch.setattr("holdfast.indexer.answers.DATABASE_WITHIN_S", 0.05)
    store = FailingStore(tmp_path / "index.db")
    client = Client(IndexerApp(build_on(tmp_path, chain, store)))
    await until_healthy(client)
    setattr(store, way, True)
    assert await client.get("/health") == {"ok": False, "chain": 84532}
    setattr(store, way, False)
    await until_healthy(client)
    await client.app.stop()


async def test_a_database_that_comes_back_is_opened(tmp_path, chain, monkeypatch):
    monkeypatch.setattr("holdfast.indexer.runtime.OPEN_AGAIN_S", 0.01)
    folder = tmp_path / "later"
    folder.write_text("in the way")
    app = IndexerApp(build_on(folder, chain))
    assert (await Client(app).ask("/api/stats"))[0] == 503
    folder.unlink()
    await until_healthy(Client(app))
    await app.stop()


async def test_a_fault_of_ours_is_500_without_details(client, monkeypatch, caplog):
    monkeypatch.setattr("holdfast.indexer.shapes.stats_shape", lambda _: 1 / 0)
    status, _, body = await client.ask("/api/stats")
    assert (status, json.loads(body)) == (500, {"error": "internal_error"})
    assert "ZeroDivisionError" in caplog.text


def test_an_application_lives_on_whichever_loop_asks(tmp_path, chain):
    populate(chain)
    app = IndexerApp(build_on(tmp_path, chain))

    async def visit():
        await until_healthy(Client(app))
        shown = await Client(app).get("/api/stats")
        await app.stop()
        return shown

    assert asyncio.run(visit()) == asyncio.run(visit())


async def test_the_loop_does_none_of_the_heavy_work(tmp_path, busy_chain, monkeypatch):
    """Parsing, decoding, writing and paging run in other threads, so that they delay no request."""
    threads = {}

    def watched(work, name=None):
        def noting(*arguments):
            threads.setdefault(name or arguments[-1], set()).add(threading.get_ident())
            return work(*arguments)

        return noting

    monkeypatch.setattr("holdfast.chain.values.logs", watched(values.logs, "parse"))
    monkeypatch.setattr(Decoder, "events", watched(Decoder.events, "decode"))
    monkeypatch.setattr(SqliteIndexStore, "connection", watched(SqliteIndexStore.connection))
    app = IndexerApp(build_on(tmp_path, busy_chain))
    await until_healthy(Client(app))
    assert (await Client(app).get("/api/dids"))["dids"]
    await app.stop()
    mine = threading.get_ident()
    assert {name: mine in idents for name, idents in threads.items() if name != "points"} == {
        "parse": False, "decode": False, "writer": False, "lists": False,
    }  # fmt: skip
