"""What a person adds and takes back, with every kind of database: exactly their own rows, once for each token."""

import asyncio
from dataclasses import replace

import pytest
from tests.support.snapshot_cases import DID, OTHER, keep, pin
from tests.support.store_cases import (
    ANN,
    BOB,
    MAIL,
    NAMES,
    NOW,
    address,
    admit,
    attempt,
    claims,
    code,
    handle,
    history,
    registration,
    removal,
    session,
)

from holdfast.rules.additions import Addition
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.registration import Claim, Confirmation, Move, Stage
from holdfast.service.store.administration import By, Scan
from holdfast.service.store.persons import Removed

KINDS = {
    "identifiers", "credentials", "codes", "audit", "snapshots", "pins", "names", "uploads", "recoveries",
    "recovery_mails", "revocations",
}  # fmt: skip


def hidden(identifier):
    key = NAMES.of_name(identifier.channel.value, identifier.key)
    return Identifier(identifier.channel, key, key)


async def settle_in(store):
    """Ann with a handle, an address, two passkeys, a session and a snapshot; Bob with a handle and a snapshot."""
    ann = {"did": DID, "ip": "192.0.2.1"}
    await store.register(registration(identifier=ANN, credential_id="ann-1", **ann), claims)
    await store.register(registration(identifier=ANN, credential_id="ann-2", now=NOW + 1, **ann), claims)
    await store.open_session(session(MAIL, DID), admit)
    await store.keep_code(code())
    await store.mark_verified(MAIL, NOW + 2)
    await store.register(registration(identifier=MAIL, credential_id="ann-3", now=NOW + 3, **ann), claims)
    await store.settle("ann-3", Confirmation.CONFIRMED, 7, NOW + 4)
    await store.keep_code(code())
    await store.open_session(session(handle("ann-too"), DID), admit)
    await store.register(registration(identifier=BOB, credential_id="bob-1", did=OTHER, ip="192.0.2.2"), claims)
    await keep(store.snapshots, "a")
    await keep(store.snapshots, "b", did=OTHER, upload="upload-other")
    await pin(store.snapshots, 1, "later", request={"name": "n\0\u00e4"})


async def test_a_credential_and_a_name_are_taken_back_by_their_own_did_alone(store):
    await settle_in(store)
    assert await store.take_back(removal(1, OTHER, credential="ann-1")) == Removed()
    assert await store.take_back(removal(2, credential="none")) == Removed()
    assert await store.find_credential("ann-1") is not None
    assert await store.take_back(removal(3, credential="ann-1")) == Removed(credentials=1)
    assert await store.find_credential("ann-1") is None and await store.find_credential("ann-2") is not None
    assert await store.take_back(removal(4, OTHER, name=("handle", "ann"))) == Removed()
    assert await store.take_back(removal(5, name=("handle", "free"))) == Removed()
    assert await store.take_back(removal(6, name=("handle", "ann"))) == Removed(identifiers=1, credentials=1)
    assert not await store.is_claimed("handle", "ann") and await store.is_claimed("email", MAIL.key)
    assert await store.find_credential("ann-2") is None and await store.find_credential("ann-3") is not None
    assert await store.describe("handle", "ann") is None
    told = ["session", "registered", "registered", "credential_revoked", "released"]
    assert await history(store, hidden(ANN)) == [(action, NAMES.of_did(DID)) for action in told]


async def test_everything_of_a_person_is_exported_and_goes_and_nothing_of_others(store, database):
    await settle_in(store)
    await store.snapshots.revoke(DID, None, NOW, NOW + 700)
    bob, found = [await store.held_of(did, NAMES.of_did(did)) for did in (OTHER, DID)]
    assert {kind: len(rows) for kind, rows in found.items()} == {
        "identifiers": 3, "credentials": 3, "codes": 1, "audit": 4, "snapshots": 1, "pins": 2, "names": 0, "uploads": 0,
        "recoveries": 0, "recovery_mails": 0, "revocations": 1,
    }  # fmt: skip
    (mail,) = (row for row in found["identifiers"] if row["channel"] == "email")
    assert (mail["given"], mail["address"], mail["verified_at"]) == ("Ann@example.com", "192.0.2.1", NOW + 2)
    assert [row["action"] for row in found["audit"]] == ["code_sent", "code_sent", "verified", "confirmed"]
    assert [row["key"] for row in found["identifiers"]] == [MAIL.key, "ann", "ann-too"], "of one moment by name"
    assert [row["name"] for row in found["pins"]] == [None, "n\0\u00e4"]
    assert await store.take_back(removal()) == Removed(identifiers=3, credentials=3, snapshots=1, pins=2)
    assert await store.held_of(OTHER, NAMES.of_did(OTHER)) == bob
    left = await store.held_of(DID, NAMES.of_did(DID))
    assert {kind for kind, rows in left.items() if rows} == {"audit", "revocations"}
    assert {row["did"] for row in left["audit"]} == {NAMES.of_did(DID)}
    await store.snapshots.expire(NOW + 20)
    assert len(await store.snapshots.garbage(10)) in {2, 3}, (
        "two blocks, and the one that Bob's snapshot shares if each DID has its own"
    )
    rows = [str(row) for row in database.rows() if row["table"] != "snapshot_revocations"]
    for trace in (DID, "'ann", "ann@example.com", "Ann@example.com"):
        assert not [row for row in rows if trace in row], trace


async def test_a_token_is_carried_out_once_also_in_parallel(store):
    assert await store.held_of(DID, NAMES.of_did(DID)) == {kind: [] for kind in KINDS}
    for did in (DID, "did:a:\0", "did:a:' OR 1=1 --"):
        assert await store.take_back(removal(2, did)) == Removed(), "of whom nothing is stored"
    await settle_in(store)
    first = await store.take_back(removal(1, name=("handle", "ann")))
    await store.register(registration(identifier=ANN, credential_id="ann-1", did=DID, now=NOW + 20), claims)
    assert await store.take_back(removal(1, name=("handle", "ann"))) == first
    assert await store.is_claimed("handle", "ann"), "the repeat changed nothing"
    done = await asyncio.gather(*(store.take_back(removal(3)) for _ in range(5)))
    assert set(done) == {Removed(identifiers=3, credentials=2, snapshots=1, pins=2)}


async def test_what_happened_in_one_moment_is_exported_as_the_history_has_it(store):
    names = [handle(name) for name in ("zoe", "ann", "mia", "bob")]
    for number, name in enumerate(names):
        await store.open_session(session(name, DID), admit)
        await store.register(registration(identifier=name, credential_id=f"one-{number}", did=DID), claims)
    for name in names:
        await store.release("handle", name.key, NOW)
    found = await store.held_of(DID, NAMES.of_did(DID))
    assert [(row["action"], row["key"]) for row in found["audit"]] == [
        (action, key) for action in ("session", "registered", "released") for key in ("ann", "bob", "mia", "zoe")
    ]


async def test_names_are_hidden_after_their_time(store):
    await settle_in(store)
    await store.release("handle", "bob", NOW + 100)
    assert await store.hide_names(NAMES, NOW + 50) > 0
    assert await store.hide_names(NAMES, NOW + 50) == 0
    assert await history(store, BOB) == [("released", OTHER)]
    assert [action for action, _ in await history(store, hidden(BOB))] == ["session", "registered"]


@pytest.mark.parametrize("what", [{"name": ("email", MAIL.key)}, {}], ids=["the name", "everything"])
async def test_a_session_alone_gives_no_right_to_the_code_of_another(store, what):
    await store.open_session(session(MAIL, OTHER), admit)
    await store.mark_verified(MAIL, NOW + 1)
    await store.keep_code(code())
    found = await store.held_of(OTHER, NAMES.of_did(OTHER))
    assert (found["codes"], found["audit"]) == ([], [])
    assert [(row["key"], row["verified_at"]) for row in found["identifiers"]] == [(MAIL.key, None)]
    assert await store.take_back(removal(1, OTHER, **what)) == Removed(identifiers=1)
    assert await store.count_attempt(attempt()) is not None, "the code is still there"
    assert await store.verified_at(MAIL) == NOW + 1
    assert not await store.is_claimed("email", MAIL.key)
    assert await history(store, MAIL) == [("code_sent", None), ("verified", None)]
    gone = [("session", NAMES.of_did(OTHER)), ("released", NAMES.of_did(OTHER))]
    assert await history(store, hidden(MAIL)) == gone


@pytest.mark.parametrize("registered", [False, True])
async def test_an_earlier_holder_stays_unseen_and_unchanged(store, registered):
    await store.keep_code(code())
    bob = {"did": OTHER, "ip": "192.0.2.2", "credential_id": "bob-1"}
    await store.register(registration(identifier=MAIL, now=NOW + 1, **bob), claims)
    await store.release("email", MAIL.key, NOW + 2)
    await store.open_session(session(MAIL, DID, now=NOW + 3), admit)
    await store.mark_verified(MAIL, NOW + 4)
    if registered:
        await store.register(registration(identifier=MAIL, now=NOW + 5, did=DID, credential_id="ann-1"), claims)
    found = await store.held_of(DID, NAMES.of_did(DID))
    assert [(row["action"], row["did"]) for row in found["audit"]] == [("verified", None)] * registered
    earlier = [("code_sent", None), ("session", OTHER), ("registered", OTHER), ("released", OTHER)]
    assert await store.take_back(removal(1, name=("email", MAIL.key))) == Removed(
        identifiers=1, credentials=int(registered)
    )
    left = await history(store, MAIL)
    assert sorted(left, key=str) == sorted([*earlier, *[("verified", None)] * (not registered)], key=str)


async def test_of_a_refused_registration_a_hash_remains(store, database):
    await store.register(registration(identifier=MAIL, did=DID), claims)
    await store.settle("cred", Confirmation.REFUSED, None, NOW)
    other = registration(identifier=MAIL, did=OTHER, credential_id="other")
    await store.register(other, lambda _facts: Move.DISPLACE)
    later = NOW + 31 * 86400
    await store.expire(later)
    await store.snapshots.expire(later)
    await store.hide_names(NAMES, later)
    assert not [row for row in map(str, database.rows()) if DID in row]


async def test_a_refused_credential_goes_though_another_did_displaced_it(store, database):
    await store.register(registration(identifier=MAIL, did=DID, credential_id="ann-1"), claims)
    await store.settle("ann-1", Confirmation.REFUSED, None, NOW + 1)
    eve = {"did": "did:new:0x" + "e" * 64, "ip": "192.0.2.3", "credential_id": "eve-1"}
    await store.register(registration(identifier=MAIL, now=NOW + 1, **eve), lambda _facts: Move.DISPLACE)
    await store.settle("eve-1", Confirmation.REFUSED, None, NOW + 1)
    bob = {"did": OTHER, "ip": "192.0.2.2", "credential_id": "bob-1"}
    await store.register(registration(identifier=MAIL, now=NOW + 2, **bob), lambda _facts: Move.DISPLACE)
    assert [row["credential"] for row in (await store.held_of(DID, NAMES.of_did(DID)))["credentials"]] == ["ann-1"]
    bob = await store.held_of(OTHER, NAMES.of_did(OTHER))
    assert [row["credential"] for row in bob["credentials"]] == ["bob-1"]
    assert await store.take_back(removal()) == Removed(credentials=1)
    assert await store.held_of(OTHER, NAMES.of_did(OTHER)) == bob
    left = await store.held_of(eve["did"], NAMES.of_did(eve["did"]))
    assert [row["credential"] for row in left["credentials"]] == ["eve-1"]
    assert not [row for row in map(str, database.rows()) if DID in row or "ann-1" in row]
    assert await store.find_credential("bob-1") is not None


EVA = By("eva", NOW + 5)
NUMBER = Identifier(Channel.SMS, "+41791234567", "+41 79 123 45 67")


@pytest.fixture
async def people(store):
    await store.register(registration(identifier=ANN, credential_id="ann-1", did=DID), claims)
    await store.register(registration(identifier=BOB, credential_id="bob-1", did=OTHER, ip="192.0.2.2"), claims)
    return store


async def test_a_free_address_becomes_the_dids_without_a_charge(people):
    before = await people.registrations("192.0.2.1")
    assert await people.add_address(address(1)) is Addition.CLAIM
    assert await people.claim_of("email", MAIL.key) == Claim(DID, Stage.REGISTERED)
    assert await people.registrations("192.0.2.1") == before
    assert await history(people, MAIL) == [("added", DID)]
    (row,) = (it for it in (await people.held_of(DID, "hash"))["identifiers"] if it["channel"] == "email")
    assert (row["given"] or row["key"], row["stage"], row["registered_at"]) == (
        "Ann@example.com", "registered", NOW + 10,
    )  # fmt: skip
    assert await people.add_address(address(2)) is Addition.KEEP
    assert await people.add_address(address(3, did=OTHER)) is Addition.TAKEN
    assert await people.add_address(address(4, NUMBER, proof=1)) is Addition.USED
    assert await people.add_address(address(5, NUMBER, did="did:new:0x" + "7" * 64)) is Addition.UNREGISTERED
    assert await people.add_address(address(6, NUMBER, most=1)) is Addition.FULL
    assert not await people.is_claimed("sms", NUMBER.key)
    assert [row.key for row in await people.administration.scan(Scan(did=DID), 9)] == [MAIL.key, "ann"]
    await people.release("handle", "ann", NOW + 20)
    assert await people.sponsorships.knows(DID), "it holds the address"


async def test_handles_and_sessions_are_no_addresses_of_a_did(people):
    await people.register(registration(identifier=ANN, credential_id="ann-2", did=DID, now=NOW + 5), claims)
    (row,) = (await people.held_of(DID, "hash"))["identifiers"]
    assert row["registered_at"] == NOW, "a further credential leaves the time of the registration"
    await people.open_session(session(MAIL, DID), admit)
    assert await people.add_address(address(1, NUMBER, most=1)) is Addition.CLAIM
    assert await people.add_address(address(2, most=1)) is Addition.FULL


async def test_what_the_history_has_of_a_claim_is_not_told_again(people):
    assert await people.add_address(address(1)) is Addition.CLAIM
    await people.administration.transfer("email", MAIL.key, OTHER, EVA)
    assert await people.add_address(address(2)) is Addition.TAKE_OVER
    assert [action for action, _ in await history(people, MAIL)] == ["transferred", "added", "added"]


async def test_of_parallel_additions_one_gets_the_address(people):
    both = [people.add_address(address(1)), people.add_address(address(2, did=OTHER))]
    assert sorted(await asyncio.gather(*both)) == [Addition.CLAIM, Addition.TAKEN]


async def test_a_session_gives_way_and_each_token_adds_or_removes_once(people):
    await people.open_session(session(MAIL, OTHER), admit)
    assert await people.add_address(address(1)) is Addition.TAKE_OVER
    assert await people.claim_of("email", MAIL.key) == Claim(DID, Stage.REGISTERED)
    assert await history(people, MAIL) == [("session", OTHER), ("added", DID)]
    for token in (1, 2):
        gone = await people.take_back(removal(token, name=("email", MAIL.key)))
        assert gone == Removed(identifiers=2 - token)
    assert await people.add_address(address(1)) is Addition.TAKE_OVER
    assert not await people.is_claimed("email", MAIL.key), "the repeat changed nothing"
    assert await people.add_address(address(2)) is Addition.CLAIM
    assert await people.take_back(removal(3)) == Removed(identifiers=2, credentials=1)


async def test_a_banned_address_cannot_be_added(people):
    given = replace(address(1), network="192.0.2.1")
    for subject in ("domain example.com", f"did {DID}", "network 192.0.2.0/24"):
        await people.administration.ban(subject, "spam", EVA)
        assert await people.add_address(given) is Addition.TAKEN, subject
        await people.administration.lift(subject, EVA)
    assert await people.add_address(given) is Addition.CLAIM
    await people.administration.ban(f"did {DID}", "spam", EVA)
    assert await people.add_address(replace(address(2), network=given.network)) is Addition.KEEP
