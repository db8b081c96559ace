"""What the follower and the endpoints require of the store."""

import itertools

import pytest
from tests.support.indexes import catch_up, follower, whole_list

from holdfast.indexer.queries import ListQuery
from holdfast.indexer.reader import Batch
from holdfast.indexer.rows import Event, IndexedBlock
from holdfast.indexer.store import StoreError, TipMoved

DID, CONTROLLER = b"\x01" * 32, b"\x02" * 20


def block(number, fork=0):
    return IndexedBlock(number, bytes([fork]) + number.to_bytes(31))


def registered(number, index=0, did=DID):
    return Event(
        number, index, block(number).hash, b"\x09" * 32, "DidRegistered", did_hash=did, controller=CONTROLLER,
        metadata_cid="cid", active=1,
    )  # fmt: skip


def status(number, active):
    return Event(number, 0, block(number).hash, b"\x08" * 32, "DidStatusChanged", did_hash=DID, active=active)


async def test_what_stands_on_another_tip_changes_nothing(store):
    await store.apply(None, Batch([block(1)], [registered(1)]), floor=-1)
    for parent in (None, block(0), block(1, fork=1)):
        with pytest.raises(TipMoved):
            await store.apply(parent, Batch([block(2)], [status(2, 0)]), floor=-1)
    with pytest.raises(TipMoved):
        await store.rewind(block(9), block(0))
    assert await store.tip() == block(1)
    assert await store.stats() == (1, 1, 0, 0, 1)


async def test_a_range_that_fails_in_the_middle_changes_nothing(store):
    await store.apply(None, Batch([block(1)], [registered(1)]), floor=-1)
    twice = [status(2, 0), status(2, 0)]  # the same position in the chain, which the events' key rejects
    with pytest.raises(StoreError):
        await store.apply(block(1), Batch([block(2)], twice), floor=-1)
    assert await store.tip() == block(1)
    assert await store.stats() == (1, 1, 0, 0, 1)


async def test_what_lies_below_the_floor_cannot_be_gone_back_to(store):
    await store.apply(None, Batch([block(1), block(2), block(3)], [registered(1)]), floor=2)
    assert await store.blocks() == [block(3), block(2)]
    await store.apply(block(3), Batch([block(4)], []), floor=4)
    assert await store.blocks() == [block(4)]


async def test_an_index_outlives_its_process_and_one_of_something_else_is_emptied(make_store):
    first, again, other = make_store(), make_store(), make_store()
    await first.open("one")
    await first.apply(None, Batch([block(1)], [registered(1)]), floor=-1)
    await first.close()
    await again.open("one")
    assert await again.did(DID) is not None
    await again.close()
    await other.open("another")
    assert await other.tip() is None
    assert await other.did(DID) is None
    await other.close()


async def test_one_process_leads_until_it_closes(make_store):
    first, second = make_store(), make_store()
    await first.open("one")
    await second.open("one")
    assert await first.lead()
    assert await first.lead()
    assert not await second.lead()
    await first.close()
    assert await second.lead()
    await second.close()


async def test_a_store_that_is_not_open_says_so(make_store):
    store = make_store()
    with pytest.raises(StoreError):
        await store.stats()
    with pytest.raises(StoreError):
        await store.tip()
    await store.close()


FILTERS = {
    "dids": ["did", "controller", "alias", "owner", "key_owner", "active"],
    "aliases": ["did", "controller", "alias", "owner", "key_owner", "active"],
    "accounts": ["did", "controller", "alias", "owner", "key_owner", "active"],
    "events": ["did", "controller", "alias", "owner", "key_owner", "account", "active", "kind"],
}
COLUMNS = {"did": "did_hash", "alias": "alias_hash", "owner": "owner_address", "account": "account_address"}


@pytest.fixture
async def full(store, busy_chain):
    await catch_up(follower(busy_chain, store))
    return store


async def test_pages_of_any_size_make_up_the_list(full):
    for name in FILTERS:
        whole = await whole_list(full, name)
        assert len(whole) > 10, name
        for limit in (1, 7):
            assert await whole_list(full, name, limit=limit) == whole, (name, limit)


async def test_a_list_that_takes_too_long_is_given_up(full, monkeypatch):
    whole = await whole_list(full, "events")
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.indexer.sqlite_store.LIST_MOST_S", -1.0)
        patch.setattr("holdfast.indexer.sqlite_store.STEPS_BETWEEN_LOOKS", 1)
        with pytest.raises(StoreError):
            await full.events(ListQuery("events"))
    assert await whole_list(full, "events") == whole


async def test_each_filter_finds_what_a_search_by_hand_finds(full):
    lists = {each: await whole_list(full, each) for each in FILTERS}
    lists["owners"] = _owners(lists)
    for name, key in [(name, key) for name, keys in FILTERS.items() for key in keys]:
        for value in _values(key, lists):
            found = await whole_list(full, name, f"{key}={value}")
            assert found == [row for row in lists[name] if _matches(row, name, key, value, lists)], (name, key, value)
    events = lists["events"]
    for kind, active in itertools.product({row["kind"] for row in events}, (True, False)):
        found = await whole_list(full, "events", f"kind={kind}&active={str(active).lower()}")
        assert found == [row for row in events if row["kind"] == kind and row.get("active") is active]
    for name in ("dids", "accounts", "events"):
        chosen = await whole_list(full, name, "from_block=20&to_block=40")
        inclusive = [row for row in lists[name] if 20 <= int(row["block_number"]) <= 40]
        assert chosen == inclusive != [], name


def _owners(lists):
    """Return each account's owners, computed by replaying the index's list of events."""
    found = {}
    for event in lists["events"]:
        mine = found.setdefault(event.get("account_address", ""), set())
        match event["kind"]:
            case "AccountCreated":
                mine.add(event["owner_address"])
            case "OwnerAdded":
                mine.add(event["key_owner"])
            case "OwnerRemoved":
                mine.discard(event["key_owner"])
            case "RecoveryFinished":
                mine.clear()
    return found


def _values(key, lists):
    if key == "active":
        return ["true", "false"]
    if key == "kind":
        return ["DidRegistered", "AccountCreated"]
    if key == "key_owner":
        gone = [event["key_owner"] for event in lists["events"] if event["kind"] == "OwnerRemoved"]
        assert gone
        present = sorted(key for owners in lists["owners"].values() for key in owners)
        return [*gone[:3], *present[:8], "0x" + "00" * 20]
    source = {"did": "dids", "controller": "dids", "alias": "aliases", "owner": "accounts", "account": "accounts"}[key]
    held = {"controller": "controller", **COLUMNS}[key]
    return [row[held] for row in lists[source][:5]] + ["0x" + "00" * (32 if key in {"did", "alias"} else 20)]


def _matches(row, name, key, value, lists):
    if name == "events":
        held = row.get(COLUMNS.get(key, key))
        return held is not None and held == (value == "true" if key == "active" else value)
    did = _did_of(row, name, lists)
    if key == "active":
        return (did if name == "accounts" else row)["active"] == (value == "true") if did else False
    if key == "alias":
        named = [alias["did_hash"] for alias in lists["aliases"] if alias["alias_hash"] == value]
        return row.get("alias_hash", value) == value and did is not None and did["did_hash"] in named
    if key == "owner":
        controller = row.get("controller") or row["account_address"]
        return any(a["owner_address"] == value and a["account_address"] == controller for a in lists["accounts"])
    if key == "key_owner":
        return value in lists["owners"].get(row.get("controller") or row["account_address"], ())
    if key == "controller":
        return (row.get("controller") or row["account_address"]) == value
    return did is not None and did["did_hash"] == value


def _did_of(row, name, lists):
    if name == "accounts":
        return next((did for did in lists["dids"] if did["controller"] == row["account_address"]), None)
    return next((did for did in lists["dids"] if did["did_hash"] == row["did_hash"]), None)
