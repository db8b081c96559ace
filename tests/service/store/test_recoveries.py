"""Requests for the service's signature as a guardian, and mails about recoveries, with every kind of database."""

import asyncio

import pytest
from msgspec.structs import replace
from tests.support.snapshot_cases import DID, OTHER
from tests.support.store_cases import (
    MAIL,
    NAMES,
    NOW,
    address,
    admit,
    claims,
    handle,
    history,
    registration,
    removal,
    sends,
    session,
)

from holdfast.rules.additions import Addition
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.registration import Claim, Confirmation, Move, Stage
from holdfast.service.store.administration import By
from holdfast.service.store.recoveries import (
    RETENTION_S,
    FinishedRecovery,
    Mail,
    NewRecovery,
    Signable,
    StartedRecovery,
)
from holdfast.wire.errors import Refused

ACCOUNT, OWNERS = "0x52908400098527886E0F7030069857D2E4169EE7", "0x" + "11" * 64
REQUEST, SECOND = "a1" * 16, "b2" * 16
PHONE = Identifier(Channel.SMS, "+491711234567", "+491711234567")
WORK = Identifier(Channel.EMAIL, "ann@work.example", "ann@work.example")


async def belongs(store, identifier=MAIL, did=DID, **fields):
    given = {"credential_id": f"c-{identifier.key}", "signed": True, **fields}
    await store.register(registration(identifier=identifier, did=did, **given), claims)


async def asks(store, request=REQUEST, identifier=MAIL, **fields):
    given = {"did": DID, "account": ACCOUNT, "nonce": 3, "owners": OWNERS, "digest": b"d" * 32, **fields}
    await store.recoveries.keep(
        NewRecovery(request=request, identifier=identifier, now=NOW, expires_at=NOW + 90, **given)
    )


async def confirmed(store):
    await belongs(store)
    await asks(store)
    assert await store.recoveries.confirm(REQUEST, NOW, NOW + 9)


def signable(store, now, nonce=3):
    return store.recoveries.signable(ACCOUNT, OWNERS, nonce, now)


async def actions(store, identifier=MAIL):
    return [action for action, _ in await history(store, identifier) if action.startswith("recover")]


async def test_an_identifier_is_a_dids_only_if_its_key_signed(store):
    assert await store.recoveries.holder(MAIL) is None
    await belongs(store, signed=False)
    assert await store.recoveries.holder(MAIL) is None, "anyone may register an address for someone else's DID"
    await belongs(store, credential_id="second")
    assert await store.recoveries.holder(MAIL) == DID
    await store.settle("second", Confirmation.REFUSED, None, NOW)
    assert await store.recoveries.holder(MAIL) is None


async def test_from_the_code_to_the_signature(store):
    await belongs(store)
    await asks(store)
    assert await signable(store, NOW + 10**6) is None, "nothing is signed before the code was entered"
    assert await store.recoveries.count_attempt(SECOND, (), NOW, 5) is None
    assert await store.recoveries.count_attempt(REQUEST, (), NOW, 5) == CountedAttempt(0, b"d" * 32, NOW + 90, 1)
    assert await store.recoveries.confirm(REQUEST, NOW + 5, NOW + 100)
    assert await store.recoveries.count_attempt(REQUEST, (), NOW, 5) is None, "the code was used"
    assert await signable(store, NOW + 99) == Signable(NOW + 100, DID)
    assert [action for action, _ in await history(store, MAIL)][-2:] == ["recovery_asked", "recovery_confirmed"]
    signed = await asyncio.gather(*(signable(store, NOW + 100) for _ in range(5)))
    assert signed == [Signable(NOW + 100, DID)] * 5
    assert await actions(store) == ["recovery_asked", "recovery_confirmed", "recovery_signed"]
    assert await signable(store, NOW + 100, nonce=4) is None, "another recovery came between"
    assert await store.recoveries.signable(ACCOUNT, OWNERS + ",0x12", 3, NOW + 100) is None


async def test_attempts_are_limited_also_in_parallel(store):
    await belongs(store)
    await asks(store)
    counted = await asyncio.gather(*(store.recoveries.count_attempt(REQUEST, (), NOW, 5) for _ in range(12)))
    assert sorted(each.attempts for each in counted if each) == [1, 2, 3, 4, 5, *[6] * 7]
    await asks(store, SECOND)
    results = await asyncio.gather(
        *(store.recoveries.count_attempt(SECOND, (sends(3),), NOW, 5) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(each, Refused) for each in results) == 5
    won = await asyncio.gather(*(store.recoveries.confirm(REQUEST, NOW, NOW + n) for n in range(6)))
    assert sorted(won, key=str) == [ACCOUNT, *[None] * 5], "a code is entered once"
    assert len(await store.recoveries.take_mails(NOW, 60, 10)) == 1
    last = await store.recoveries.count_attempt(SECOND, (), NOW, 5)
    assert last is not None and last.attempts == 4, "what a window refused did not count for the code"


async def test_of_requests_for_one_recovery_the_later_decides_and_of_one_moment_the_same(store):
    await belongs(store)
    for request, after_s in ((REQUEST, 0), (SECOND, 1)):
        await asks(store, request)
        assert await store.recoveries.confirm(request, NOW + after_s, NOW + 9 + 50 * after_s)
    assert await signable(store, NOW + 20) == Signable(NOW + 59, DID)
    assert await store.recoveries.stop(SECOND, NOW + 21)
    assert await signable(store, NOW + 22) == Signable(NOW + 9, DID)
    for request, ready_at in (("c3" * 16, NOW + 5), ("00" * 16, NOW + 7)):
        await asks(store, request)
        await store.recoveries.confirm(request, NOW, ready_at)
    assert await signable(store, NOW + 22) == Signable(NOW + 5, DID)


async def test_an_address_that_is_no_longer_the_dids_confirms_and_signs_nothing(store):
    await belongs(store)
    await asks(store)
    await asks(store, SECOND)
    assert await store.recoveries.confirm(REQUEST, NOW, NOW)
    await store.revoke_credential(f"c-{MAIL.key}", NOW + 1)
    assert not await store.recoveries.confirm(SECOND, NOW + 2, NOW + 2)
    assert await signable(store, NOW + 3) is None
    await belongs(store, did=OTHER)
    assert await signable(store, NOW + 3) is None and not await store.recoveries.confirm(SECOND, NOW + 2, NOW + 2)


async def test_a_stopped_request_signs_nothing(store):
    await confirmed(store)
    stopped = await asyncio.gather(*(store.recoveries.stop(REQUEST, NOW + 1) for _ in range(3)))
    assert sorted(stopped) == [False, False, True]
    assert await signable(store, NOW + 9) is None
    assert await actions(store) == ["recovery_asked", "recovery_confirmed", "recovery_stopped"]


async def test_each_address_gets_one_mail_about_a_recovery(store):
    await belongs(store)
    await belongs(store, WORK)
    await belongs(store, PHONE)
    await belongs(store, Identifier(Channel.EMAIL, "mallory@example.com", "m"), signed=False)
    await asks(store, identifier=PHONE)
    assert await store.recoveries.confirm(REQUEST, NOW, NOW + 9)
    asked = [Mail(REQUEST, each.key, "asked", ACCOUNT, NOW + 9, REQUEST) for each in (MAIL, WORK)]
    assert sorted(await store.recoveries.take_mails(NOW, 60, 10)) == sorted(asked)
    started = StartedRecovery(chain_id=84532, account=ACCOUNT, nonce=3, did=DID, until=NOW + 500)
    noted = await asyncio.gather(*(store.recoveries.note_started(started, NOW + 1) for _ in range(4)))
    assert sum(noted) == 2
    found = await asyncio.gather(*(store.recoveries.take_mails(NOW + 1, 60, 10) for _ in range(4)))
    assert sorted(mail for part in found for mail in part) == sorted(
        Mail(started.name, each.key, "started", ACCOUNT, NOW + 500, "") for each in (MAIL, WORK)
    ), "each mail is one worker's"


async def test_a_mail_is_tried_again_ever_more_rarely_and_expires_with_its_request(store):
    await confirmed(store)
    tries = [age for age in range(0, 10_000, 20) if await store.recoveries.take_mails(NOW + age, 60, 10)]
    assert tries == [0, 60, 120, 240, 480, 960, 1920, 3840, 7680], "of all together, who may be killed"
    assert await store.recoveries.expire(NOW + RETENTION_S - 1) == 0
    assert await store.recoveries.expire(NOW + RETENTION_S + 1) == 2


async def test_a_mail_that_was_not_sent_is_taken_when_it_is_said_and_never_after_it_was_sent(store):
    await confirmed(store)
    (mail,) = await store.recoveries.take_mails(NOW + 500, 60, 10)
    await store.recoveries.retry_mail(mail, NOW + 560)
    assert await store.recoveries.take_mails(NOW + 559, 60, 10) == []
    assert await store.recoveries.take_mails(NOW + 560, 60, 10) == [mail]
    await store.recoveries.retry_mail(mail, NOW + 10**5)
    taken = await asyncio.gather(*(store.recoveries.take_mails(NOW + 561, 60, 10) for _ in range(4)))
    assert [mail] == [one for mails in taken for one in mails], "it was put off by a clock that ran ahead"
    await store.recoveries.sent(mail, NOW + 561)
    await store.recoveries.retry_mail(mail, NOW + 562)
    assert await store.recoveries.take_mails(NOW + 10**6, 60, 10) == []


async def test_who_states_an_account_is_found_oldest_first(store):
    await belongs(store, smart_account=ACCOUNT)
    await belongs(store, WORK, OTHER, smart_account=ACCOUNT.lower(), now=NOW + 5)
    await belongs(store, PHONE, "did:new:0x12", smart_account=ACCOUNT, signed=False)
    assert await store.recoveries.dids_of(ACCOUNT) == [DID, OTHER]
    assert await store.recoveries.dids_of("0x" + "00" * 20) == []


@pytest.mark.parametrize("what", [{"name": ("email", MAIL.key)}, {}], ids=["the name", "everything"])
async def test_a_persons_requests_and_mails_are_exported_and_go(store, database, what):
    await confirmed(store)
    found = await store.held_of(DID, NAMES.of_did(DID))
    assert [row["request"] for row in found["recoveries"]] == [REQUEST]
    assert [(row["recipient"], row["until_at"]) for row in found["recovery_mails"]] == [(MAIL.key, NOW + 9)]
    await store.take_back(removal(**what))
    rows = [str(row) for row in database.rows()]
    assert not [row for row in rows if MAIL.key in row or REQUEST in row]


async def test_a_finished_recovery_is_in_the_audit_once(store):
    await belongs(store)
    await belongs(store, PHONE, signed=False)
    finished = FinishedRecovery(chain_id=1, account=ACCOUNT, generation=2, did=DID)
    assert await store.recoveries.note_finished(replace(finished, did=OTHER), NOW) == 0, "of whom nothing is stored"
    noted = await asyncio.gather(*(store.recoveries.note_finished(finished, NOW + 1) for _ in range(4)))
    assert sorted(noted) == [0, 0, 0, 1]
    assert await actions(store) == ["recovered"]
    assert await store.recoveries.take_mails(NOW + 100, 60, 10) == []
    assert await store.recoveries.note_finished(replace(finished, generation=3), NOW + 2) == 1


async def told(store, did=DID, nonce=1):
    """Return who gets a mail about a recovery that starts now."""
    started = StartedRecovery(chain_id=1, account=ACCOUNT, nonce=nonce, did=did, until=NOW + 9)
    await store.recoveries.note_started(started, NOW)
    return sorted(mail.recipient for mail in await store.recoveries.take_mails(NOW, 60, 10))


async def test_an_address_that_the_key_added_is_told_and_confirms_like_a_registered_one(store):
    await belongs(store)
    assert await store.add_address(address(1, WORK)) is Addition.CLAIM
    assert await store.recoveries.holder(WORK) == DID
    assert await told(store) == [MAIL.key, WORK.key]
    await store.take_back(removal(8, name=("email", MAIL.key)))
    assert await told(store, nonce=2) == [WORK.key], "who changes an address still learns of a takeover"
    await asks(store, identifier=WORK)
    assert await store.recoveries.confirm(REQUEST, NOW, NOW + 9) == ACCOUNT
    assert [mail.recipient for mail in await store.recoveries.take_mails(NOW, 60, 10)] == [WORK.key]
    assert await signable(store, NOW + 9) == Signable(NOW + 9, DID)
    assert await actions(store, WORK) == ["recovery_asked", "recovery_confirmed", "recovery_signed"]
    finished = FinishedRecovery(chain_id=1, account=ACCOUNT, generation=2, did=DID)
    assert await store.recoveries.note_finished(finished, NOW) == 1
    await store.take_back(removal(9, name=("email", WORK.key)))
    assert await store.recoveries.holder(WORK) is None and await told(store, nonce=3) == []
    assert await signable(store, NOW + 9) is None
    await belongs(store, WORK, OTHER, signed=False)
    assert await store.recoveries.holder(WORK) is None, "the former holder's signature is not the next one's"


async def test_one_who_registered_without_an_address_or_a_signature_is_told_at_what_the_key_adds(store):
    await belongs(store, handle("ann"))
    await belongs(store, signed=False)
    assert await store.recoveries.holder(MAIL) is None and await told(store) == []
    assert await store.add_address(address(1)) is Addition.KEEP
    assert await store.recoveries.holder(MAIL) == DID and await told(store, nonce=2) == [MAIL.key]
    await store.open_session(session(WORK, OTHER), admit)
    assert await store.add_address(address(2, WORK)) is Addition.TAKE_OVER
    assert await store.recoveries.holder(WORK) == DID and await told(store, nonce=3) == [MAIL.key, WORK.key]
    assert await told(store, OTHER) == []


@pytest.mark.parametrize("refused", [False, True])
async def test_an_address_that_the_key_added_stays_when_a_credential_of_it_goes(store, refused):
    await belongs(store)
    await store.add_address(address(1, WORK))
    await belongs(store, WORK, credential_id="work")
    gone = store.settle("work", Confirmation.REFUSED, None, NOW) if refused else store.revoke_credential("work", NOW)
    assert await gone
    assert await store.claim_of("email", WORK.key) == Claim(DID, Stage.REGISTERED), "no code of a stranger displaces it"
    assert await store.recoveries.holder(WORK) == DID


async def test_an_address_that_another_did_gets_counts_for_neither_without_its_signature(store):
    await belongs(store)
    await store.add_address(address(1, WORK))
    await store.add_address(address(2, PHONE))
    await belongs(store, PHONE)
    await asks(store, identifier=WORK)
    assert await store.administration.transfer("email", WORK.key, OTHER, By("eva", NOW))
    displacing = registration(identifier=PHONE, did=OTHER, credential_id="other", signed=False)
    await store.register(displacing, lambda _facts: Move.DISPLACE)
    for identifier in (WORK, PHONE):
        assert await store.recoveries.holder(identifier) is None
    assert not await store.recoveries.confirm(REQUEST, NOW, NOW)
    assert await told(store) == [MAIL.key] and await told(store, OTHER) == []
    await belongs(store, WORK, OTHER)
    assert await store.recoveries.holder(WORK) == OTHER


async def test_what_the_key_signed_is_exported_and_shown(store):
    await belongs(store)
    await store.add_address(address(1, WORK))
    found = await store.held_of(DID, NAMES.of_did(DID))
    assert {row["key"]: row["signed"] for row in found["identifiers"]} == {MAIL.key: False, WORK.key: True}
    assert [row["signed"] for row in found["credentials"]] == [True]
    shown = {name: await store.describe("email", name.key) for name in (MAIL, WORK)}
    assert [shown[name]["claim"]["signed"] for name in (MAIL, WORK)] == [False, True]
    assert [row["signed"] for row in shown[MAIL]["credentials"]] == [True]
