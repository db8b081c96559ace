"""Stored snapshots on several nodes: quotas, pins and names stay correct, and nothing deadlocks."""

import asyncio

import pytest

from holdfast.rules.pins import PinRequest
from holdfast.rules.snapshot_quotas import SnapshotLimits, Usage, admit_pin, reservation
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.snapshot_index import NewPin, NewRecord, NewRoot, NewUpload, TokenUse
from holdfast.wire.failures import SnapshotRefused

pytestmark = pytest.mark.usefixtures("patient_stores")
NOW = 1_800_000_000.0
LIMITS = SnapshotLimits(bytes_per_did=1000, pins_per_did=7, revisions_per_did=5)
DIDS = [f"did:new:0x{n:064x}" for n in range(8)]


@pytest.fixture
async def nodes(postgres_url, patient_stores):
    """Three stores on one database, each with its own connections."""
    stores = [PostgresqlDatabase(postgres_url).open() for _ in range(3)]
    yield [store.snapshots for store in stores]
    for store in stores:
        await store.close()


async def outcomes(*requests):
    results = await asyncio.gather(*requests, return_exceptions=True)
    unexpected = [one for one in results if isinstance(one, Exception) and not isinstance(one, SnapshotRefused)]
    assert not unexpected, unexpected
    return list(results)


def begun(index, did, name):
    upload = NewUpload(upload_id=name, did=did, now=NOW, expires_at=NOW + 900)
    return index.begin_upload(upload, lambda usage: reservation(usage, LIMITS, 300, declared=True))


def pinned(index, did, number):
    new = NewPin(request_id=f"r{number}", did=did, request=PinRequest(cid=f"c{number}"), now=NOW)
    use = TokenUse(token=number.to_bytes(32), kind="pin", what="w", until=NOW + 300)
    return index.add_pin(new, use, lambda usage: admit_pin(usage, LIMITS))


async def kept(index, did, name):
    """Store and pin a snapshot whose blocks other DIDs have also stored."""
    await index.begin_upload(NewUpload(upload_id=name, did=did, now=NOW, expires_at=NOW + 900), lambda _usage: 1)
    await index.insert_blocks(did, name, [(name, 10), ("shared", 10), ("also", 10)])
    root = NewRoot(
        cid=name, did=did, blocks=(name, "shared", "also"), size=30, publisher="k51", pin=f"pin-{name}",
        held_until=0.0, now=NOW,
    )  # fmt: skip
    use = TokenUse(token=name.encode().rjust(32), kind="import", what=name, until=NOW + 300)
    await index.finish_upload(name, root, use, lambda _usage: None, lambda _usage: None)


async def test_quotas_hold_on_every_node(nodes):
    uploads = await outcomes(*(begun(nodes[n % 3], DIDS[n % 2], f"u{n}") for n in range(40)))
    pins = await outcomes(*(pinned(nodes[n % 3], DIDS[n % 2], n) for n in range(40)))
    assert sum(taken == 300 for taken in uploads) == 2 * 3
    assert sum(not isinstance(pin, Exception) for pin in pins) == 2 * 7
    assert [await nodes[n].usage(DIDS[n]) for n in range(2)] == [Usage(0, 900, 7, 0)] * 2
    for did in DIDS[:2]:
        moments = [pin.created_us for pin in await nodes[0].pins(did)]
        assert len(set(moments)) == 7 and min(moments) == int(NOW * 1_000_000)


async def test_many_snapshots_come_and_go_at_once(nodes, postgres):
    async def life(n):
        index, did = nodes[n % 3], DIDS[n % 8]
        for turn in range(3):
            await kept(index, did, f"s{n}-{turn}")
            assert await index.root(f"s{n}-{turn}") is not None
            assert await nodes[(n + 1) % 3].remove_pin(did, f"pin-s{n}-{turn}", NOW)
            await index.expire(NOW)

    await asyncio.gather(*(life(n) for n in range(16)))
    assert await nodes[0].totals() == (0, 0, 0)
    garbage = await nodes[1].garbage(10_000)
    assert {key.partition(".")[0] for key in garbage} >= {"shared", "also", "s3-2"} and await nodes[0].block(
        "also"
    ) is None
    await nodes[2].collected(garbage)
    assert await nodes[0].garbage(10) == []


async def test_a_name_has_one_first_record(nodes):
    await kept(nodes[0], DIDS[0], "root")
    seen = []

    def rises(sequence):
        def decide(before):
            seen.append(before)
            return before is None or before.sequence < sequence

        return decide

    records = [
        NewRecord(name="k51", root="root", sequence=n, validity_ns=2**63, ttl_ns=2**63 - 1, data=bytes([n]), now=NOW)
        for n in range(24)
    ]
    await outcomes(*(nodes[n % 3].publish(record, rises(n)) for n, record in enumerate(records)))
    last = await nodes[0].record("k51")
    assert last is not None and last.sequence == 23 and seen.count(None) >= 1
