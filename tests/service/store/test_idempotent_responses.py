"""Every store keeps the first response to a request, for repetitions of this request."""

import asyncio
from dataclasses import replace

import pytest
from tests.support.store_cases import ANN, BOB, MAIL, NOW, admit, attempt, claims, code, refuse, registration, session

from holdfast.rules.limits import CLOCK_MARGIN_S, DAY_S
from holdfast.rules.quotas import Counted, Quota
from holdfast.service.store.port import Overtaken
from holdfast.service.store.values import LateTransaction, NewRepeat, StoredResponse
from holdfast.wire.errors import RATE_LIMITED, Refused
from holdfast.wire.requests import NO_TRANSACTION

KEY, BODY = b"k" * 32, b"b" * 32
ANSWER = StoredResponse(KEY, b"sealed")


def late(**fields):
    base = {
        "credential": "cred", "identifier": ANN, "did": "did:a:1", "instead_of": NO_TRANSACTION, "tx_hash": "0x2",
        "smart_account": "0xc0", "block_number": 7, "now": NOW + 5,
    }  # fmt: skip
    return LateTransaction(**{**base, **fields})


def named(key=KEY, now=NOW, body=BODY, **more):
    fields = {"lease_s": 2.0, "retention_s": float(DAY_S), "quotas": (), **more}
    return NewRepeat(key=key, bodies=(body,), now=now, **fields)


async def test_of_many_at_once_one_does_the_work_and_one_takes_it_over_when_its_lease_has_ended(store):
    begun = await asyncio.gather(*(store.begin(named()) for _ in range(32)))
    assert sum(one.mine for one in begun) == 1
    assert {one.body for one in begun} == {BODY} and {one.answer for one in begun} == {None}
    assert not (await store.begin(named(now=NOW + 1.9))).mine
    taken = await asyncio.gather(*(store.begin(named(now=NOW + 2.1)) for _ in range(8)))
    assert sum(one.mine for one in taken) == 1
    assert not (await store.begin(named(now=NOW + 4))).mine, "who takes over has a whole lease"
    await store.begin(named(b"l" * 32, now=NOW + 3600))
    assert (await store.begin(named(b"l" * 32))).mine, "a wrong clock set it"


async def test_only_the_same_body_takes_over(store):
    await store.begin(named())
    other = await store.begin(named(now=NOW + 60, body=b"c" * 32))
    assert not other.mine and other.body == BODY
    rotated = replace(named(now=NOW + 60), bodies=(b"n" * 32, BODY))
    assert (await store.begin(rotated)).mine, "a body known by an older key is the same body"


async def test_the_first_answer_is_the_one_that_is_kept_for_a_day(store):
    await store.begin(named())
    assert await store.finish(KEY, None) is None
    assert (await store.begin(named())).mine, "work that was put back is done again at once"
    assert await store.finish(KEY, b"first") == b"first"
    assert await store.finish(KEY, b"second") == b"first"
    assert await store.finish(KEY, None) == b"first"
    assert (await store.begin(named(now=NOW + DAY_S - 1))).answer == b"first"
    again = await store.begin(named(now=NOW + DAY_S + 1, body=b"c" * 32))
    assert (again.mine, again.answer, again.body) == (True, None, b"c" * 32)
    assert await store.expire(NOW + 2 * DAY_S) == 0
    assert await store.expire(NOW + 2 * DAY_S + CLOCK_MARGIN_S + 2) == 1


async def test_a_new_key_counts_on_its_address_and_a_repeat_does_not(store):
    quotas = (Quota(Counted.KEYED_REQUESTS, "192.0.2.1", 2, DAY_S),)
    for _ in range(5):
        await store.begin(named(quotas=quotas))
    await store.begin(named(b"l" * 32, quotas=quotas))
    with pytest.raises(Refused) as refused:
        await store.begin(named(b"m" * 32, quotas=quotas))
    assert refused.value.row is RATE_LIMITED and refused.value.retry_after_s == DAY_S
    assert not (await store.begin(named(quotas=quotas))).mine, "a known key is still answered"


async def test_an_effect_keeps_its_answer(store):
    keys = [bytes([n]) * 32 for n in range(6)]
    await asyncio.gather(*(store.begin(named(key)) for key in keys))
    await store.open_session(session(), admit, StoredResponse(keys[0], b"0"))
    await store.register(registration(tx_hash=NO_TRANSACTION), claims, StoredResponse(keys[1], b"1"))
    await store.keep_code(code(), StoredResponse(keys[2], b"2"))
    counted = await store.count_attempt(attempt())
    assert await store.consume_code(MAIL, counted.code_id, NOW, StoredResponse(keys[3], b"3"))
    await store.mark_verified(MAIL, NOW, StoredResponse(keys[4], b"4"))
    assert await store.add_transaction(late(), StoredResponse(keys[5], b"5"))
    kept = await asyncio.gather(*(store.begin(named(key)) for key in keys))
    assert [one.answer for one in kept] == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert await store.claim_of("handle", "ann") and await store.find_credential("cred")


async def test_what_is_refused_keeps_no_answer(store):
    await store.begin(named())
    with pytest.raises(Refused):
        await store.open_session(session(), refuse, ANSWER)
    assert not await store.consume_code(MAIL, 7, NOW, ANSWER), "there is no such code"
    await store.register(registration(tx_hash=NO_TRANSACTION), claims)
    assert not await store.add_transaction(late(did="did:a:2"), ANSWER)
    assert (await store.begin(named())).answer is None


async def test_an_effect_whose_answer_is_kept_already_changes_nothing(store):
    await store.begin(named())
    await store.finish(KEY, b"first")
    await store.keep_code(code())
    counted = await store.count_attempt(attempt())
    await store.register(registration(identifier=BOB, credential_id="bobs", tx_hash=NO_TRANSACTION), claims)
    for write in (
        store.open_session(session(), admit, ANSWER),
        store.register(registration(), claims, ANSWER),
        store.consume_code(MAIL, counted.code_id, NOW, ANSWER),
        store.mark_verified(MAIL, NOW, ANSWER),
        store.add_transaction(late(credential="bobs", identifier=BOB), ANSWER),
    ):
        with pytest.raises(Overtaken):
            await write
    assert await store.claim_of("handle", "ann") is None and await store.find_credential("cred") is None
    assert await store.verified_at(MAIL) is None and await store.registrations("192.0.2.1") == (1, 1)
    assert (await store.find_credential("bobs")).tx_hash == NO_TRANSACTION
    key = b"z" * 32
    await store.begin(named(key))
    overtaken, done = await asyncio.gather(
        store.open_session(session(), admit, ANSWER),
        store.open_session(session(MAIL), admit, StoredResponse(key, b"mine")),
        return_exceptions=True,
    )
    assert isinstance(overtaken, Overtaken) and done is None, "others in the same batch are not disturbed"
    assert await store.claim_of("handle", "ann") is None and await store.claim_of("email", MAIL.key)
    assert (await store.begin(named(key))).answer == b"mine"


async def test_an_attempt_is_noted_with_its_request(store):
    assert await store.code_of(MAIL) is None and await store.code_of(ANN) is None
    await store.begin(named())
    await store.keep_code(code())
    counted = await store.count_attempt(replace(attempt(), repeat=KEY))
    assert counted is not None and counted.attempts == 1
    again = await store.begin(named(now=NOW + 60))
    assert again.mine and again.attempt == (counted.code_id, 1)
    with pytest.raises(Overtaken):
        await store.count_attempt(replace(attempt(), repeat=KEY))
    present = await store.code_of(MAIL)
    assert present is not None and (present.code_id, present.digest, present.attempts) == (
        counted.code_id, b"digest", 1,
    )  # fmt: skip
