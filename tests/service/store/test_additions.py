"""A person adds a verified address to their DID, with every kind of database."""

import asyncio
from dataclasses import replace

import pytest
from tests.support.snapshot_cases import DID, OTHER
from tests.support.store_cases import ANN, BOB, MAIL, NOW, admit, claims, registration, session

from holdfast.rules.additions import Addition
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.rules.registration import Claim, Stage
from holdfast.service.store.administration import By
from holdfast.service.store.persons import NewAddress, Removal, Removed

NAMES = Pseudonyms(b"k" * 32)
EVA = By("eva", NOW + 5)
NUMBER = Identifier(Channel.SMS, "+41791234567", "+41 79 123 45 67")


@pytest.fixture
async def people(store):
    """Two registered people, each with a handle."""
    await store.register(registration(identifier=ANN, credential_id="ann-1", did=DID), claims)
    await store.register(registration(identifier=BOB, credential_id="bob-1", did=OTHER, ip="192.0.2.2"), claims)
    return store


def address(token, identifier=MAIL, did=DID, most=10, proof=0):
    signature = ((proof or token).to_bytes(32), NOW + 300)
    return NewAddress(
        did=did, identifier=identifier, attestation=signature, ip="192.0.2.1", now=NOW + 10, token=token.to_bytes(32),
        until=NOW + 600, most=most,
    )  # fmt: skip


async def told(store, identifier=MAIL):
    known = await store.describe(identifier.channel.value, identifier.key)
    return [(row["action"], row["did"]) for row in known["history"]]


async def test_a_free_address_becomes_the_dids_without_a_charge(people):
    before = await people.registrations("192.0.2.1")
    assert await people.add_address(address(1)) is Addition.CLAIM
    assert await people.claim_of("email", MAIL.key) == Claim(DID, Stage.REGISTERED)
    assert await people.registrations("192.0.2.1") == before
    assert await told(people) == [("added", DID)]
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


async def test_a_session_gives_way_and_everything_is_taken_back(people):
    await people.open_session(session(MAIL, OTHER), admit)
    assert await people.add_address(address(1)) is Addition.TAKE_OVER
    assert await people.claim_of("email", MAIL.key) == Claim(DID, Stage.REGISTERED)
    assert await told(people) == [("session", OTHER), ("added", DID)]
    everything = Removal(did=DID, now=NOW + 11, pseudonyms=NAMES, token=b"3" * 32, until=NOW + 300)
    assert await people.take_back(everything) == Removed(identifiers=2, credentials=1)
    assert not await people.is_claimed("email", MAIL.key)
    assert await people.add_address(address(1)) is Addition.TAKE_OVER
    assert not await people.is_claimed("email", MAIL.key), "the repeat changed nothing"


async def test_of_parallel_additions_one_gets_the_address(people):
    both = [people.add_address(address(1)), people.add_address(address(2, did=OTHER))]
    assert sorted(await asyncio.gather(*both)) == [Addition.CLAIM, Addition.TAKEN]


async def test_a_banned_address_cannot_be_added(people):
    given = replace(address(1), network="192.0.2.1")
    for subject in ("domain example.com", f"did {DID}", "network 192.0.2.0/24"):
        await people.administration.ban(subject, "spam", EVA)
        assert await people.add_address(given) is Addition.TAKEN, subject
        await people.administration.lift(subject, EVA)
    assert await people.add_address(given) is Addition.CLAIM
    await people.administration.ban(f"did {DID}", "spam", EVA)
    assert await people.add_address(replace(address(2), network=given.network)) is Addition.KEEP
