"""With sixty-four concurrent requests on three nodes, one owner wins, no limit is exceeded, and nothing deadlocks."""

import asyncio
import random

import pytest
from tests.support.databases import CITUS_URL
from tests.support.store_cases import handle

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.quotas import Counted, Quota
from holdfast.rules.registration import Confirmation, RegistrationRequest, RegistrationRule, SessionRule
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.values import NewAttempt, NewCode, NewRegistration, NewSession
from holdfast.wire.errors import Refused
from holdfast.wire.requests import RegisterDid

NOW = 1_800_000_000.0
MAIL = Identifier(Channel.EMAIL, "ann@example.com", "ann@example.com")


@pytest.fixture(params=["postgres_url", *(["citus_url"] if CITUS_URL else [])])
async def nodes(request, patient_stores):
    """Three stores on one database, each with its own connections."""
    url = request.getfixturevalue(request.param)
    stores = [PostgresqlDatabase(url).open() for _ in range(3)]
    yield stores
    for store in stores:
        await store.close()


def open_session(store, name, did, ip, most=3):
    rule = SessionRule(RegistrationRequest(Channel.HANDLE, did, reserved=False), Limits(max_registrations_per_ip=most))
    return store.open_session(NewSession(identifier=handle(name), did=did, ip=ip, now=NOW), rule)


async def outcomes(*requests):
    results = await asyncio.gather(*requests, return_exceptions=True)
    unexpected = [error for error in results if isinstance(error, Exception) and not isinstance(error, Refused)]
    assert not unexpected, unexpected
    return list(results)


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
    requests = [open_session(nodes[n % 3], f"n{n}", "did:a:1", ip) for n in range(64)]
    assert sum(result is None for result in await outcomes(*requests)) == 3
    assert await nodes[1].registrations(ip) == (3, 3)


async def test_shuffled_batches_with_shared_addresses_neither_deadlock_nor_lose_a_count(nodes):
    names = [f"n{n}" for n in range(200)]
    addresses = [f"10.0.0.{n}" for n in range(8)]
    chance = random.Random(7)

    async def one_node(store):
        order = chance.sample(names, len(names))
        requests = [open_session(store, name, "did:a:1", chance.choice(addresses), most=10_000) for name in order]
        return sum(result is None for result in await outcomes(*requests))

    assert sum(await asyncio.gather(*map(one_node, nodes))) == len(names)
    counted = [(await nodes[0].registrations(ip))[0] for ip in addresses]
    assert sum(counted) == len(names) == (await nodes[0].registrations("x"))[1]


async def test_credentials_and_attestations_are_used_once(nodes):
    def register(store, n, credential, signature):
        request = RegisterDid(
            identifier=MAIL.given, channel="email", credential_id=credential, did="did:a:1", tx_hash="0x1"
        )
        new = NewRegistration(
            request=request, identifier=MAIL, attestation=(signature, NOW + 300), confirmation=Confirmation.PENDING,
            ip=f"10.0.0.{n}", now=NOW,
        )  # fmt: skip
        request = RegistrationRequest(Channel.EMAIL, "did:a:1", reserved=False)
        return store.register(new, RegistrationRule(request, Limits(), Ceilings(credentials_per_identifier=6)))

    same = [register(nodes[n % 3], n, "one", b"signature") for n in range(64)]
    assert sum(result is None for result in await outcomes(*same)) == 1
    several = [register(nodes[n % 3], n, f"c{n}", b"s%d" % n) for n in range(64)]
    assert sum(result is None for result in await outcomes(*several)) == 5, "six in all"


async def test_a_window_admits_exactly_its_limit(nodes):
    quotas = (Quota(Counted.CODES, MAIL.key, 5, 3600), Quota(Counted.SMS, "", 1000, 86400))
    for hour, admitted in ((0, 5), (3599.9, 0), (3600, 5)):
        requests = [nodes[n % 3].charge(quotas, NOW + hour) for n in range(64)]
        assert sum(not isinstance(result, Refused) for result in await outcomes(*requests)) == admitted


async def test_five_attempts_see_a_code_and_one_uses_it(nodes):
    await nodes[0].keep_code(NewCode(identifier=MAIL, digest=b"d", ip="192.0.2.1", now=NOW, expires_at=NOW + 90))
    attempt = NewAttempt(identifier=MAIL, ip="192.0.2.1", now=NOW, limit=5, quotas=())
    counted = await outcomes(*(nodes[n % 3].count_attempt(attempt) for n in range(64)))
    assert sorted(one.attempts for one in counted) == [1, 2, 3, 4, 5] + [6] * 59
    used = await outcomes(*(nodes[n % 3].consume_code(MAIL, counted[0].code_id, NOW) for n in range(64)))
    assert used.count(True) == 1


async def test_one_node_has_a_lease(nodes):
    taken = await outcomes(*(nodes[n % 3].take_lease("chore", str(n), NOW, 60) for n in range(64)))
    assert taken.count(True) == 1
