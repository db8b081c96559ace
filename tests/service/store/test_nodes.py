"""With many concurrent requests on three nodes, one owner wins, no limit is exceeded, and nothing deadlocks."""

import asyncio
import random
from dataclasses import replace

import pytest
from tests.support.snapshot_cases import keep, record
from tests.support.store_cases import MAIL, NOW, admitted, attempt, code, handle, outcomes, registration, session

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.pins import PinRequest
from holdfast.rules.quotas import Counted, Quota, of_address
from holdfast.rules.registration import RegistrationRequest, RegistrationRule, SessionRule
from holdfast.rules.snapshot_quotas import SnapshotLimits, Usage, admit_pin, reservation
from holdfast.rules.sponsoring import Budget
from holdfast.service.store.postgresql import batches
from holdfast.service.store.snapshot_index import NewPin, NewUpload, TokenUse
from holdfast.service.store.sponsorships import NewSponsorship, SponsorshipKey

DIDS = [f"did:new:0x{n:064x}" for n in range(8)]


@pytest.fixture
async def nodes(database, monkeypatch):
    """Three nodes that do not try again after a deadlock."""
    monkeypatch.setattr(batches, "PAUSES_S", ())
    stores = [database.open() for _ in range(3)]
    yield stores
    for store in stores:
        await store.close()


def open_session(store, name, did, ip, most=3):
    rule = SessionRule(RegistrationRequest(Channel.HANDLE, did, reserved=False), Limits(max_registrations_per_ip=most))
    return store.open_session(session(handle(name), did, ip), rule)


def mail(n):
    return Identifier(Channel.EMAIL, f"n{n}@example.com", f"n{n}@example.com")


def shuffled(nodes, count, write):
    """Let each node write the same things, each in an order of its own."""
    chance = random.Random(7)
    orders = [(store, chance.sample(range(count), count)) for store in nodes]
    return outcomes(*(write(store, n) for store, order in orders for n in order))


async def test_an_identifier_has_one_owner(nodes):
    for turn in range(3):
        requests = [open_session(nodes[n % 3], f"n{turn}", f"did:a:{n}", f"10.0.{turn}.{n}") for n in range(64)]
        won = [n for n, result in enumerate(await outcomes(*requests)) if result is None]
        assert len(won) == 1
        claim = await nodes[0].claim_of("handle", f"n{turn}")
        assert claim is not None and claim.did == f"did:a:{won[0]}"
    assert (await nodes[0].registrations("x"))[1] == 3


@pytest.mark.parametrize("ip", ["192.0.2.1", "2001:db8:1:2::/64"])
async def test_an_address_opens_three(nodes, ip):
    assert await admitted(*(open_session(nodes[n % 3], f"n{n}", "did:a:1", ip) for n in range(64))) == 3
    assert await nodes[1].registrations(ip) == (3, 3)


async def test_shuffled_batches_neither_deadlock_nor_lose_a_count(nodes):
    """Sessions with shared addresses, codes, marks, and registrations of which each credential has one winner."""
    asked, limits = RegistrationRequest(Channel.EMAIL, "did:a:1", reserved=False), Limits(max_registrations_per_ip=100)
    rule = RegistrationRule(asked, limits, Ceilings())

    def register(store, n):
        ip, proof = f"2001:db8:1:{n % 4}::/64", (b"s%d" % n, NOW + 300)
        return store.register(registration(identifier=mail(n), credential_id=f"c{n}", attestation=proof, ip=ip), rule)

    await shuffled(nodes, 200, lambda store, n: open_session(store, f"n{n}", "did:a:1", f"10.0.0.{n % 8}", 10_000))
    counted = [(await nodes[0].registrations(f"10.0.0.{n}"))[0] for n in range(8)]
    assert counted == [25] * 8 and (await nodes[0].registrations("x"))[1] == 200
    await shuffled(nodes, 40, lambda store, n: store.keep_code(replace(code(), identifier=mail(n))))
    await shuffled(nodes, 40, lambda store, n: store.mark_verified(mail(n), NOW))
    assert [await nodes[0].verified_at(mail(n)) for n in range(40)] == [NOW] * 40
    registered = await shuffled(nodes, 40, register)
    assert sum(not isinstance(result, Exception) for result in registered) == 40
    assert await nodes[0].registrations("2001:db8:1:1::/64") == (10, 240)


async def test_credentials_and_attestations_are_used_once(nodes):
    rule = RegistrationRule(
        RegistrationRequest(Channel.EMAIL, "did:a:1", reserved=False), Limits(), Ceilings(credentials_per_identifier=6)
    )

    def register(n, credential, signature, identifier=MAIL):
        proof = (signature, NOW + 300)
        new = registration(identifier=identifier, credential_id=credential, attestation=proof, ip=f"10.0.0.{n}")
        return nodes[n % 3].register(new, rule)

    assert await admitted(*(register(n, "one", b"signature") for n in range(64))) == 1
    assert await admitted(*(register(n, f"c{n}", b"s%d" % n) for n in range(64))) == 5, "six in all"
    assert await admitted(*(register(n, f"o{n}", b"another", mail(n)) for n in range(64))) == 1


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8:1:2::/64"])
async def test_a_window_admits_exactly_its_limit(nodes, address):
    quotas = (*of_address(Counted.DID_POSTS, address, 5, 3600), Quota(Counted.SMS, "", 1000, 86400))
    for hour, most in ((0, 5), (3599.9, 0), (3600, 5)):
        assert await admitted(*(nodes[n % 3].charge(quotas, NOW + hour) for n in range(64))) == most


async def test_five_attempts_see_a_code_of_which_strangers_leave_one_and_one_uses_it(nodes):
    await nodes[0].keep_code(code(ip="192.0.2.1"))
    strangers = await outcomes(*(nodes[n % 3].count_attempt(attempt(ip=f"198.51.100.{n}")) for n in range(64)))
    assert sorted(one.attempts for one in strangers) == [1, 2, 3, 4] + [6] * 60
    own = await outcomes(*(nodes[n].count_attempt(attempt(ip="192.0.2.1")) for n in range(3)))
    assert sorted(one.attempts for one in own) == [5, 6, 6]
    used = await outcomes(*(nodes[n % 3].consume_code(MAIL, own[0].code_id, NOW) for n in range(64)))
    assert used.count(True) == 1


async def test_one_node_has_a_lease(nodes):
    taken = await outcomes(*(nodes[n % 3].take_lease("chore", str(n), NOW, 60) for n in range(64)))
    assert taken.count(True) == 1


async def test_a_sponsors_budget_is_not_exceeded(nodes):
    def reserve(n):
        key, budgets = SponsorshipKey(8453, f"0x{1:040x}", hex(n)), [Budget("all", 100, "")]
        return nodes[n % 3].sponsorships.reserve(
            NewSponsorship(key=key, day=20_000, gwei=7, budgets=budgets, valid_until=int(NOW) + 600, block=7)
        )

    assert (await outcomes(*(reserve(n) for n in range(40)))).count(None) == 14
    assert dict(await nodes[0].sponsorships.spent(8453, 20_000)) == {"all": 98}


async def test_quotas_of_snapshots_hold(nodes):
    limits = SnapshotLimits(bytes_per_did=1000, pins_per_did=7, revisions_per_did=5)
    indexes = [it.snapshots for it in nodes]

    def begun(n):
        upload = NewUpload(upload_id=f"u{n}", did=DIDS[n % 2], now=NOW, expires_at=NOW + 900)
        return indexes[n % 3].begin_upload(upload, lambda usage: reservation(usage, limits, 300, declared=True))

    def pinned(n):
        new = NewPin(request_id=f"r{n}", did=DIDS[n % 2], request=PinRequest(cid=f"c{n}"), now=NOW)
        use = TokenUse(token=n.to_bytes(32), kind="pin", what="w", until=NOW + 300)
        return indexes[n % 3].add_pin(new, use, lambda usage: admit_pin(usage, limits))

    uploads = await outcomes(*(begun(n) for n in range(40)))
    assert sum(taken == 300 for taken in uploads) == 2 * 3
    assert await admitted(*(pinned(n) for n in range(40))) == 2 * 7
    assert [await indexes[n].usage(DIDS[n]) for n in range(2)] == [Usage(0, 900, 7, 0)] * 2
    for did in DIDS[:2]:
        moments = [pin.created_us for pin in await indexes[0].pins(did)]
        assert len(set(moments)) == 7
    for n, taken in enumerate(uploads):
        if taken == 300:
            await indexes[0].end_upload(DIDS[n % 2], f"u{n}")
    assert [(await indexes[0].usage(did)).reserved for did in DIDS[:2]] == [0, 0]


async def test_many_snapshots_come_and_go_at_once(nodes):
    indexes = [store.snapshots for store in nodes]

    async def life(n):
        index, did = indexes[n % 3], DIDS[n % 8]
        for turn in range(3):
            name = f"s{n}-{turn}"
            await keep(index, name, did=did)
            assert await index.root(name) is not None
            assert await indexes[(n + 1) % 3].remove_pin(did, f"pin-{name}", NOW)
            await index.expire(NOW)

    await asyncio.gather(*(life(n) for n in range(16)))
    await indexes[0].expire(NOW)  # what others were writing about was passed over
    assert await indexes[0].totals() == (0, 0, 0)
    garbage = await indexes[1].garbage(10_000)
    assert {key.partition(".")[0] for key in garbage} >= {"shared", "s3-2-block", "s3-2"}
    assert await indexes[0].block("shared") is None
    await indexes[2].collected(garbage)
    assert await indexes[0].garbage(10) == []


async def test_a_name_has_one_first_record(nodes):
    await keep(nodes[0].snapshots, "root", publisher="k51")
    seen = []

    def publish(n):
        def rises(before):
            seen.append(before)
            return before is None or before.sequence < n

        return nodes[n % 3].snapshots.publish(record("k51", "root", n, data=bytes([n])), rises)

    await outcomes(*(publish(n) for n in range(24)))
    last = await nodes[0].snapshots.record("k51")
    assert last is not None and last.sequence == 23 and seen.count(None) >= 1
