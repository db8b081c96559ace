"""A live SQLite installation is moved to PostgreSQL: everything arrives exactly once, even if the move is killed."""

import asyncio
import contextlib
import json
import subprocess
from dataclasses import replace

import pytest
from tests.support import forked
from tests.support.serving import HOLDFAST, PATIENCE_S, environment_of
from tests.support.snapshot_cases import keep, pin, record
from tests.support.store_cases import (
    MAIL,
    NOW,
    address,
    admit,
    attempt,
    claims,
    code,
    handle,
    registration,
    removal,
    sends,
    session,
)

from holdfast.rules.additions import Addition
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.registration import Claim, Confirmation, Stage
from holdfast.service.store.administration import AdminKey, By, StoredInvitation
from holdfast.service.store.moving import move as move_module
from holdfast.service.store.moving.move import move
from holdfast.service.store.moving.target import NotEmpty
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.schema import TABLES
from holdfast.service.store.recoveries import NewRecovery
from holdfast.service.store.snapshot_index import NewUpload
from holdfast.service.store.sqlite.moved import take_back
from holdfast.service.store.sqlite.schema import connect
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.service.store.values import NewRepeat
from holdfast.settings.shared import default_url
from holdfast.wire.errors import Refused
from holdfast.wire.failures import SnapshotRefused

pytestmark = pytest.mark.usefixtures("patient_stores")
DIDS = ("did:a:ann", "did:a:ben")
SENDS = sends(2)


def silent(*_):
    return None


async def moved(file, url):
    return await move(file, parse_address(url), silent)


async def fill(store):
    for n in range(50):
        ip = f"2001:db8:1:{n:x}::/64" if n % 2 else f"10.0.0.{n}"
        await store.open_session(session(handle(f"n{n}"), f"did:a:{n}", ip, NOW + n), silent)
    for n, confirmation in enumerate((Confirmation.PENDING, Confirmation.CONFIRMED, Confirmation.REFUSED)):
        stated = {"tx_hash": "0x" + "ab" * 32 if n else "0x1", "block_number": n or None}
        proof = (b"\x00s%d" % n, NOW + 300)
        new = registration(identifier=MAIL, did=DIDS[0], credential_id=f"c{n}", attestation=proof, **stated)
        await store.register(new, claims)
        if confirmation is not Confirmation.PENDING:
            await store.settle(f"c{n}", confirmation, None, NOW)
    await store.keep_code(replace(code(b"\xff", "192.0.2.1"), same_until=NOW + 9))
    await store.mark_verified(MAIL, NOW + 7)
    for _ in range(2):
        await store.charge((SENDS,), NOW)
    for name, at in (("eva", NOW), ("tom", NOW + 1)):
        await store.administration.keep_key(AdminKey(name, b"\x00\xff" * 16, "read", at), By("op", at))
    await store.administration.revoke_key("tom", By("op", NOW + 2))
    for number in ("0a" * 6, "0b" * 6):
        await store.administration.invite(StoredInvitation(number, 3, NOW + 900, NOW), By("op", NOW))
    await store.administration.use_up(StoredInvitation("0b" * 6, 3, NOW + 900, NOW), By("op", NOW + 3))
    await store.administration.ban("did did:a:9", "spam", By("op", NOW))
    await store.administration.erase(removal(did="did:a:3"), By("op", NOW + 4))


async def fill_snapshots(store):
    """Store two DIDs sharing a block, pins in several states, a name, a revocation, an open upload and a response."""
    index = store.snapshots
    for did in DIDS:
        name = f"root-{did}"
        await keep(index, name, did=did, publisher=f"name-{did}", blocks=(name, f"{name}-block", "shared", "shared"))
    await index.publish(record(f"name-{DIDS[0]}", f"root-{DIDS[0]}", 7, data=b"\x00r"), lambda _kept: True)
    await pin(
        index, 1, "later", did=DIDS[0], request={"name": "n\0\u00e4", "origins": ("/p2p/Q",), "meta": {"k\0": "v"}}
    )
    await index.revoke(DIDS[0], None, NOW, NOW + 700)
    open_upload = NewUpload(upload_id="open", did=DIDS[1], now=NOW, expires_at=NOW + 900)
    await index.begin_upload(open_upload, lambda _usage: 5)
    await index.insert_blocks(DIDS[1], "open", [("placed", 5)])
    await store.begin(REPEAT)
    await store.finish(REPEAT.key, b"answer")


ADDED = Identifier(Channel.EMAIL, "added@example.com", "added@example.com")
REPEAT = NewRepeat(key=b"k" * 32, bodies=(b"b" * 32,), quotas=(), now=NOW, lease_s=30.0, retention_s=86400.0)


async def fill_recoveries(store):
    """Store a request that was confirmed, a mail about it, and an address that the DID's key added."""
    work = Identifier(Channel.EMAIL, "ann@work.example", "W")
    await store.register(registration(identifier=work, credential_id="work", did=DIDS[0], signed=True), claims)
    await store.recoveries.keep(
        NewRecovery(
            request="a1" * 16, identifier=work, did=DIDS[0], account="0xaa", nonce=0, owners="0xbb", digest=b"\x00d",
            now=NOW, expires_at=NOW + 90,
        )
    )  # fmt: skip
    await store.recoveries.confirm("a1" * 16, NOW, NOW + 9)
    assert await store.add_address(address(2, ADDED, DIDS[0])) is Addition.CLAIM


async def known_snapshots(store):
    index = store.snapshots
    return [
        [await index.root(f"root-{did}") for did in DIDS], [await index.pins(did) for did in DIDS],
        [await index.usage(did) for did in DIDS], await index.block("shared"), await index.block("placed"),
        await index.record(f"name-{DIDS[0]}"), await index.is_revoked(DIDS[0], ("x", "y"), NOW),
        await index.is_registered(DIDS[0]), await index.is_registered("did:a:1"), (await index.totals())[:2],
    ]  # fmt: skip


async def known(store):
    return [
        await store.describe("handle", "n7"), await store.claim_of("email", MAIL.key),
        [await store.find_credential(f"c{n}") for n in range(3)], await store.registrations("2001:db8:1:1::/64"),
        await store.registrations("2001:db8:1::/48"), await store.verified_at(MAIL),
        [row.credential for row in await store.due(NOW, 9)], await store.describe("email", MAIL.key),
        await store.administration.keys(), await store.administration.invitations(None, 10),
        await store.recoveries.holder(ADDED), await store.recoveries.holder(MAIL),
        await store.administration.bans("", 10), [act.action for act in await store.administration.acts(None, 3)],
    ]  # fmt: skip


async def test_everything_moves_and_counts_on_also_in_a_database_that_was_only_started(tmp_path, fresh_postgres_url):
    source, database = SqliteStore(tmp_path / "x.db", 8453), PostgresqlDatabase(fresh_postgres_url)
    await database.open(84532).close()
    for filled in (fill, fill_snapshots, fill_recoveries):
        await filled(source)
    before, shared = await known(source), await source.snapshots.block("shared")
    snapshots_before = await known_snapshots(source)
    await source.close()
    report = await moved(tmp_path / "x.db", fresh_postgres_url)
    assert report.finished and report.rows["identifiers"] == 52 and database.chain() == 8453
    assert report.rows["idempotent_responses"] == 1 and report.rows["snapshot_pins"] == 3
    assert report.rows.keys() == report.checksums.keys() == set(TABLES) - {"leases"}
    target = database.open()
    assert (await known(target), await known_snapshots(target)) == (before, snapshots_before)
    await counts_on(target)
    await shares_on(target, shared)
    await target.close()


async def counts_on(target):
    """Windows, codes, kept answers and used tokens go on where they were."""
    with pytest.raises(Refused):
        await target.charge((SENDS,), NOW + 1)
    counted = await target.count_attempt(attempt())
    assert counted.attempts == 1
    assert await target.consume_code(MAIL, counted.code_id, NOW)
    assert (await target.begin(replace(REPEAT, now=NOW + 1))).answer == b"answer"
    with pytest.raises(SnapshotRefused):
        await pin(target.snapshots, 1, "other", did=DIDS[0])


async def shares_on(target, shared):
    """A block that two DIDs share stays while one of them needs it."""
    index = target.snapshots
    assert await index.remove_pin(DIDS[0], f"pin-root-{DIDS[0]}", NOW)
    assert shared.key not in await index.garbage(10) and await index.block("shared") == shared
    assert await index.remove_pin(DIDS[1], f"pin-root-{DIDS[1]}", NOW)
    await index.end_upload(DIDS[1], "open")
    assert shared.key in await index.garbage(10) and len(await index.garbage(10)) == 6
    assert await index.totals() == (0, 1, 0)


async def test_a_service_that_writes_on_is_caught_up_with(tmp_path, fresh_postgres_url):
    source = SqliteStore(tmp_path / "x.db")
    await fill(source)
    first = await moved(tmp_path / "x.db", fresh_postgres_url)
    assert not first.finished and not first.checksums and first.written > 100
    await source.release("handle", "n3", NOW)
    await source.open_session(session(handle("late"), ip="10.0.0.2"), silent)
    await source.close()
    last = await moved(tmp_path / "x.db", fresh_postgres_url)
    assert last.finished and 0 < last.written < 10, "only what differs is written"
    target = PostgresqlDatabase(fresh_postgres_url).open()
    assert await target.claim_of("handle", "n3") is None
    assert await target.claim_of("handle", "late") == Claim("did:a:1", Stage.SESSION)
    await target.close()


async def test_a_database_in_use_is_never_overwritten(tmp_path, fresh_postgres_url, monkeypatch):
    monkeypatch.setattr(move_module.target, "TRIES", 2)
    await SqliteStore(tmp_path / "x.db").close()
    other = PostgresqlDatabase(fresh_postgres_url).open()
    await other.ping()
    with pytest.raises(StoreUnavailable, match="a service has the target open"):
        await moved(tmp_path / "x.db", fresh_postgres_url)
    await fill(other)
    await other.close()
    with pytest.raises(NotEmpty):
        await moved(tmp_path / "x.db", fresh_postgres_url)
    again = PostgresqlDatabase(fresh_postgres_url).open()
    assert await again.claim_of("handle", "n1") is not None
    await again.close()


async def test_a_node_that_was_open_before_a_move_began_stores_nothing_until_its_end(tmp_path, fresh_postgres_url):
    """The node has no connection yet, so that the move does not see it; what it stored, the last pass would delete."""
    source, node = SqliteStore(tmp_path / "x.db"), PostgresqlDatabase(fresh_postgres_url).open()
    assert not (await moved(tmp_path / "x.db", fresh_postgres_url)).finished
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="unfinished move"):
            await node.open_session(session(handle("zed"), "did:a:9"), admit)
    await source.close()
    assert (await moved(tmp_path / "x.db", fresh_postgres_url)).finished
    await node.open_session(session(handle("zed"), "did:a:9"), admit)
    assert await node.claim_of("handle", "zed") == Claim("did:a:9", Stage.SESSION)
    await node.close()


async def test_a_move_is_finished_once_and_meanwhile_and_afterwards_one_database_serves(
    tmp_path, fresh_postgres_url, postgres, monkeypatch
):
    """Also where the move ends between its two marks: then neither serves, and another call finishes it."""
    source, target = SqliteStore(tmp_path / "x.db"), PostgresqlDatabase(fresh_postgres_url)
    await fill(source)
    assert not (await moved(tmp_path / "x.db", fresh_postgres_url)).finished
    with pytest.raises(StoreUnavailable, match="unfinished move"):
        target.open()
    await source.close()
    await SqliteStore(tmp_path / "x.db").close()  # it may go on for as long as the move is not finished

    async def cut(_):
        raise OSError("the machine stops here")

    with monkeypatch.context() as stopped:
        stopped.setattr(move_module.target, "finish", cut)
        with pytest.raises(StoreUnavailable):
            await moved(tmp_path / "x.db", fresh_postgres_url)
    with pytest.raises(StoreUnavailable, match="migrate --back"):
        SqliteStore(tmp_path / "x.db")
    with pytest.raises(StoreUnavailable, match="unfinished move"):
        target.open()
    assert (await moved(tmp_path / "x.db", fresh_postgres_url)).finished
    with pytest.raises(NotEmpty, match="already"):
        await moved(tmp_path / "x.db", fresh_postgres_url)
    with pytest.raises(StoreUnavailable, match="moved to another database already"):
        await moved(tmp_path / "x.db", second := postgres.new_database())
    postgres.drop_database(second)
    for store in (target.open(), taken_back(tmp_path / "x.db")):
        assert await store.claim_of("handle", "n7") is not None
        await store.close()


def taken_back(file):
    with pytest.raises(StoreUnavailable, match="migrate --back"):
        SqliteStore(file)
    assert take_back(file) and not take_back(file)
    return SqliteStore(file)


MANY = 30_000
INSERT = """INSERT INTO identifiers (channel, key, given, did, stage, ip, created_at, in_audit)
    VALUES ('handle', ?, ?, ?, 'session', ?, 5, 0)"""


@pytest.mark.soak  # in the gate: a service that writes on, and a move that ended between both marks
def test_a_move_that_was_killed_goes_on(tmp_path, fresh_postgres_url):
    asyncio.run(SqliteStore(tmp_path / "holdfast.db").close())
    with contextlib.closing(connect(tmp_path / "holdfast.db")) as connection:
        connection.execute("BEGIN")
        connection.executemany(
            INSERT, [(f"n{n}", f"n{n}", f"did:a:{n}", f"10.{n >> 8}.{n & 255}.1") for n in range(MANY)]
        )
        connection.execute("COMMIT")
    command = [HOLDFAST, "migrate", "--to", fresh_postgres_url, "--json"]
    environment = environment_of(tmp_path, database_url=default_url(tmp_path))
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        for _ in range(3):
            while not (line := first.stderr.readline()).startswith("identifiers:"):
                assert line, "the move ended before it could be killed"
        first.kill()
    code, out, err = forked.run(command[1:], environment, b"", PATIENCE_S * 5)
    assert code == 0, err
    report = json.loads(out)
    assert report["finished"] and report["rows"]["identifiers"] == MANY
    in_all = 3 * MANY + 1  # with the addresses' counters, the history and the total
    assert report["written"] <= in_all - 6000, "what was written before the kill is not written again"
