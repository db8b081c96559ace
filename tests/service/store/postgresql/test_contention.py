"""Transactions about the same rows: what one decides on stays so, upkeep passes over a busy DID, slow writes are tried on."""

import asyncio

import asyncpg
import pytest
from tests.support.snapshot_cases import taking
from tests.support.store_cases import ANN, BOB, MAIL, NOW, claims, code, registration, removal, sends

from holdfast.rules.invitations import Invitation
from holdfast.rules.registration import Claim, Confirmation, Move, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.administration import AdminKey, By, StoredInvitation
from holdfast.service.store.persons import Removed
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.tries import Tries
from holdfast.service.store.snapshot_index import NewUpload

BUSY, FREE = "did:new:0x01", "did:new:0x02"


OPERATOR = By("cli:root", NOW)


@pytest.fixture
async def other(pg_store, postgres_url):
    """A connection of another node."""
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


async def all_wait(other, *writes):
    """Start writes, and return their tasks when all of them wait for locks that the other node has."""
    tasks = [asyncio.ensure_future(write) for write in writes]
    while await other.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted") < len(tasks):
        await asyncio.sleep(0.01)
    return tasks


async def test_a_refusal_sees_the_credential_that_comes_meanwhile(pg_store, other):
    await pg_store.register(registration(), claims)
    async with other.transaction():
        await other.execute("SELECT 1 FROM holdfast.identifiers FOR UPDATE")
        (settling,) = await all_wait(other, pg_store.settle("cred", Confirmation.REFUSED, None, NOW))
        second = 'jsonb_populate_record(c, \'{"credential": "second"}\')'
        await other.execute(f"INSERT INTO holdfast.credentials SELECT ({second}).* FROM holdfast.credentials AS c")
    assert await settling
    assert await pg_store.claim_of("handle", "ann") == Claim("did:a:1", Stage.REGISTERED)


async def test_two_nodes_use_up_an_invitation_once(pg_store, postgres_url, other):
    invitation, second = StoredInvitation("0a" * 6, 3, NOW + 900, NOW), PostgresqlDatabase(postgres_url).open()
    await pg_store.administration.invite(invitation, OPERATOR)
    await pg_store.charge([Invitation(invitation.number, 3, int(NOW + 900)).quota()], NOW + 900)
    async with other.transaction():
        await other.execute("SELECT 1 FROM holdfast.windows FOR UPDATE")
        nodes = (pg_store, second)
        tasks = await all_wait(other, *(node.administration.use_up(invitation, OPERATOR) for node in nodes))
    assert sorted(await asyncio.gather(*tasks)) == [0, 2]
    await second.close()


async def test_the_key_of_an_operator_who_acts_is_not_revoked_meanwhile(pg_store, postgres_url, other):
    await pg_store.administration.keep_key(AdminKey("eva", b"d" * 32, "write", NOW), OPERATOR)
    acting = await asyncpg.connect(postgres_url)
    async with acting.transaction():
        await acting.execute("SELECT holdfast.as_operator_v1('key:eva')")
        with pytest.raises(asyncpg.LockNotAvailableError):
            await other.execute("SELECT 1 FROM holdfast.admin_keys FOR NO KEY UPDATE NOWAIT")
    await acting.close()


async def test_upkeep_passes_over_a_busy_did_and_returns(fresh_postgres_url):
    store = PostgresqlDatabase(fresh_postgres_url).open()
    index = store.snapshots
    for did in (BUSY, FREE):
        await index.begin_upload(NewUpload(upload_id="u", did=did, now=NOW - 900, expires_at=NOW - 1), taking(9))
    other = await asyncpg.connect(fresh_postgres_url)
    async with other.transaction():
        await other.execute("SELECT holdfast.snapshot_turn_v1($1)", shard_of(BUSY))
        assert await index.expire(NOW) == 1
        assert [(await index.usage(did)).reserved for did in (BUSY, FREE)] == [9, 0]
    assert await index.expire(NOW) == 1
    await other.close()
    await store.close()


async def test_upkeep_waits_for_no_row_that_a_check_uses(pg_store, other):
    """A check locks its windows and then its code; upkeep that held the code and waited for a window would block both."""
    await pg_store.charge([sends(5)], NOW)
    await pg_store.keep_code(code())
    async with other.transaction():
        await other.execute("SELECT 1 FROM holdfast.windows FOR UPDATE")
        assert await pg_store.expire(NOW + 3 * 86400) == 1, "the code"
        await other.execute("SELECT 1 FROM holdfast.codes FOR UPDATE")
    assert await pg_store.expire(NOW + 3 * 86400) == 1, "the window"


async def test_whoever_removes_a_person_has_all_names_before_other_rows(pg_store, other):
    """Otherwise it would wait for another node's write about a name, which would wait for it, too."""
    first, last = sorted((ANN, BOB), key=lambda name: shard_of("handle", name.key))
    for n, name in enumerate((first, last)):
        await pg_store.register(registration(identifier=name, credential_id=f"c{n}", did=BUSY), claims)
    await other.execute("SET lock_timeout = 500")
    async with other.transaction():
        await other.execute("SELECT 1 FROM holdfast.identifiers WHERE key = $1 FOR UPDATE", last.key)
        (removing,) = await all_wait(other, pg_store.take_back(removal(did=BUSY)))
        await other.execute("SELECT holdfast.note_orphans_v1(ARRAY[$1], 0)", BUSY)
    assert await removing == Removed(identifiers=2, credentials=2)


async def test_a_write_is_tried_ten_times_however_long_each_takes():
    assert len([*Tries(within_s=0)]) == 10


@pytest.mark.parametrize(("did", "move"), [("did:a:1", Move.CONTINUE), ("did:a:2", Move.DISPLACE)])
async def test_only_the_did_that_registers_a_refused_credential_anew_stays_tied_to_the_name(
    pg_store, postgres, postgres_url, did, move
):
    await pg_store.register(registration(identifier=MAIL, did="did:a:1"), claims)
    await pg_store.settle("cred", Confirmation.REFUSED, None, NOW)
    await pg_store.register(registration(identifier=MAIL, did=did), lambda _facts: move)
    rows = postgres.execute("SELECT did, channel, key FROM holdfast.did_identifiers", postgres_url.rpartition("/")[2])
    assert [tuple(row) for row in rows] == [(did, "email", MAIL.key)]
