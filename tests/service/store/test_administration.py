"""What operators list, count, ban, transfer and rename, with every kind of database."""

import asyncio

import pytest
from tests.support.store_cases import ANN, BOB, MAIL, NOW, admit, claims, history, registration, session

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.registration import Confirmation, RegistrationRequest, RegistrationRule, SessionRule, Stage
from holdfast.service.store.administration import By, Scan
from holdfast.service.store.values import NewSession
from holdfast.wire.errors import IDENTIFIER_RESERVED, IP_LIMIT_REACHED, Refused

OP = By("eva", NOW + 100)
EVE = Identifier(Channel.HANDLE, "eve", "Eve")
DID = "did:a:1"


def name(n):
    return Identifier(Channel.HANDLE, f"name{n}", f"Name{n}")


def opens(store, identifier=ANN):
    new = NewSession(identifier=identifier, did=DID, ip=f"hash of {identifier.key}", now=NOW, network="192.0.2.1")
    return store.open_session(new, SessionRule(RegistrationRequest(identifier.channel, DID, reserved=False), Limits()))


def registers(store, **fields):
    new = registration(network="192.0.2.1", **fields)
    request = RegistrationRequest(new.identifier.channel, new.request.did, reserved=False)
    return store.register(new, RegistrationRule(request, Limits(), Ceilings()))


async def acts(store):
    return [(act.operator, act.action, act.key) for act in await store.administration.acts(None, 100)]


@pytest.mark.parametrize(("subject", "identifier", "row"), [
    ("name handle ann", ANN, IDENTIFIER_RESERVED),
    (f"did {DID}", ANN, IDENTIFIER_RESERVED),
    ("domain example.com", MAIL, IDENTIFIER_RESERVED),
    ("domain com", MAIL, IDENTIFIER_RESERVED),
    ("network 192.0.2.0/24", ANN, IP_LIMIT_REACHED),
])  # fmt: skip
async def test_what_is_banned_is_refused_until_the_ban_is_lifted(store, subject, identifier, row):
    admin = store.administration
    assert await admin.ban(subject, "spam", OP)
    assert not await admin.ban(subject, "again", OP)
    for write in (opens(store, identifier), registers(store, identifier=identifier)):
        with pytest.raises(Refused) as refused:
            await write
        assert refused.value.row is row and not await store.is_claimed(identifier.channel.value, identifier.key)
    assert await admin.lift(subject, OP) and not await admin.lift(subject, OP)
    await opens(store, identifier)
    await registers(store, identifier=identifier)
    assert await acts(store) == [("eva", "ban_lifted", subject), ("eva", "banned", subject)]


async def test_a_ban_stops_only_what_it_is_about(store):
    await store.administration.ban("name handle ann", "spam", OP)
    await store.administration.ban("domain ample.com", "spam", OP)
    asked = [*(opens(store, name(n)) for n in range(4)), opens(store), opens(store, MAIL)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(result, Refused) for result in results] == [False] * 4 + [True, False]
    asked = [registers(store, identifier=name(n), credential_id=f"c{n}", ip=f"hash {n}") for n in range(4)]
    done = await asyncio.gather(*asked, registers(store, credential_id="x"), return_exceptions=True)
    assert [isinstance(result, Refused) for result in done] == [False] * 4 + [True]
    day = int(NOW // 86400)
    counted = await store.administration.count_day(day * 86400, day * 86400 + 86400)
    assert [tuple(row) for row in counted] == [(day, "email", 1, 0), (day, "handle", 4, 4)]
    await store.administration.ban(f"did {DID}", "", OP)
    with pytest.raises(Refused):
        await registers(store, identifier=name(0), credential_id="another")
    assert await store.find_credential("c0") is not None, "what is registered stays until it is released"


async def test_pages_of_the_newest_by_day_prefix_and_did(store):
    for n in range(7):
        await store.open_session(session(name(n), now=NOW + n // 2), admit)
    seen = []
    after = None
    while page := await store.administration.scan(Scan(after=after), 3):
        seen += [row.key for row in page]
        after = (page[-1].created_at, page[-1].channel, page[-1].key)
    assert seen == ["name6", "name5", "name4", "name3", "name2", "name1", "name0"]
    day = await store.administration.scan(Scan(since=NOW + 1, until=NOW + 3), 10)
    assert [row.key for row in day] == ["name5", "name4", "name3", "name2"]
    await store.open_session(session(name(10)), admit)
    page = await store.administration.scan(Scan(prefix="name1"), 10)
    assert [row.key for row in page] == ["name1", "name10"]
    after = (page[0].created_at, page[0].channel, page[0].key)
    assert [row.key for row in await store.administration.scan(Scan(prefix="name1", after=after), 10)] == ["name10"]
    await store.register(registration(identifier=BOB, did="did:a:2"), claims)
    await store.settle("cred", Confirmation.CONFIRMED, 7, NOW + 1)
    (bob,) = await store.administration.scan(Scan(did="did:a:2"), 10)
    assert (bob.given, bob.stage, bob.confirmed, bob.pending) == ("Bob", "registered", 1, 0)
    of_did = await store.administration.scan(Scan(did=DID), 10)
    after = (of_did[2].created_at, of_did[2].channel, of_did[2].key)
    assert len(of_did) == 8 and await store.administration.scan(Scan(did=DID, after=after), 10) == of_did[3:]


async def test_releases_and_revocations_name_the_operator(store):
    await store.register(registration(credential_id="a"), claims)
    await store.register(registration(credential_id="b", now=NOW + 1), claims)
    assert await store.administration.revoke("a", By("eva", NOW + 2))
    assert await store.administration.release("handle", "ann", By("tom", NOW + 3))
    assert not await store.administration.release("handle", "ann", By("tom", NOW + 3))
    done = await acts(store)
    assert done == [("tom", "released", "ann"), ("eva", "credential_revoked", "ann")]
    await store.release("handle", "bob", NOW)
    await store.mark_verified(MAIL, NOW + 5)
    assert await acts(store) == done, "nobody else's act is an operator's"
    first = (await store.administration.acts(None, 1))[0]
    rest = await store.administration.acts((first.at, first.id), 100)
    assert [(act.operator, act.action, act.key) for act in rest] == done[1:]


async def test_another_did_gets_a_name(store):
    await store.register(registration(credential_id="a"), claims)
    assert await store.administration.transfer("handle", "ann", "did:a:2", OP)
    claim = await store.claim_of("handle", "ann")
    assert (claim.did, claim.stage) == ("did:a:2", Stage.SESSION)
    assert await store.find_credential("a") is None
    await registers(store, did="did:a:2", credential_id="b", now=NOW + 200)
    await registers(store, did="did:a:3", credential_id="a", identifier=BOB)
    assert not await store.administration.transfer("handle", "ann", "did:a:2", OP)
    assert not await store.administration.transfer("handle", "none", "did:a:2", OP)
    described = await store.describe("handle", "ann")
    story = [(row["action"], row["did"], row["operator"]) for row in described["history"]]
    assert story == [
        ("session", DID, None), ("registered", DID, None), ("transferred", "did:a:2", "eva"),
        ("registered", "did:a:2", None),
    ]  # fmt: skip


async def test_a_claim_gets_another_name_with_its_credentials(store):
    await store.register(registration(credential_id="a"), claims)
    assert not await store.administration.rename("handle", "ann", EVE, OP), "the chain judges by the name"
    await store.settle("a", Confirmation.CONFIRMED, 7, NOW + 1)
    await store.open_session(session(BOB, "did:a:2"), admit)
    assert not await store.administration.rename("handle", "ann", BOB, OP)
    assert await store.administration.rename("handle", "ann", EVE, OP)
    assert not await store.is_claimed("handle", "ann")
    found = await store.find_credential("a")
    assert (found.identifier, found.did) == ("Eve", DID)
    assert await store.snapshots.is_registered(DID)
    await registers(store, identifier=EVE, credential_id="b", now=NOW + 200)
    told = [[action for action, _ in await history(store, identifier)] for identifier in (ANN, EVE)]
    assert told == [["session", "registered", "confirmed", "renamed"], ["renamed", "registered"]]
    assert await store.administration.release("handle", "eve", By("eva", NOW + 300))
    assert await store.find_credential("a") is None and not await store.snapshots.is_registered(DID)
