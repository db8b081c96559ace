"""Events are written with what they tell, for each receiver that has a subscription, with every kind of database."""

import pytest
from tests.support.store_cases import ANN, BOB, MAIL, NOW, admit, claims, code, refuse, registration, session

from holdfast.rules.events import GIVE_UP_S, IN_AUDIT, subscription_of
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.limits import CLOCK_MARGIN_S
from holdfast.rules.registration import Confirmation, Move
from holdfast.service.store.administration import By
from holdfast.service.store.recoveries import FinishedRecovery
from holdfast.wire.errors import Refused

HOOK = "webhook"


async def subscribe(store, receiver=HOOK):
    await store.take_lease(subscription_of(receiver), "all", NOW, GIVE_UP_S)


async def told(store, receiver=HOOK, now=NOW + 1000):
    return sorted(await store.outbox.due(receiver, now, 100), key=lambda event: (event.at, event.action))


async def _every_action(store):
    await store.mark_verified(MAIL, NOW)
    await store.register(registration(identifier=MAIL, credential_id="a"), claims)
    await store.settle("a", Confirmation.REFUSED, None, NOW + 1)
    await store.register(registration(credential_id="b"), claims)
    await store.settle("b", Confirmation.CONFIRMED, 7, NOW + 2)
    await store.register(registration(credential_id="c", signed=True), lambda _facts: Move.REPLACE)
    await store.recoveries.note_finished(
        FinishedRecovery(chain_id=1, account="0xabc", generation=1, did="did:a:1"), NOW + 3
    )
    await store.revoke_credential("c", NOW + 4)
    await store.administration.transfer("email", MAIL.key, "did:a:2", By("op", NOW + 4))
    await store.administration.rename("handle", "ann", Identifier(Channel.HANDLE, "eve", "Eve"), By("op", NOW + 4))
    await store.release("handle", "eve", NOW + 5)


async def test_every_event_is_recorded(store):
    await subscribe(store)
    await store.open_session(session(BOB), admit)
    await store.keep_code(code())
    with pytest.raises(Refused):
        await store.register(registration(), refuse)
    assert await told(store) == [], "sessions, codes and refused writes are no events"
    await _every_action(store)
    events = await told(store)
    assert {event.action for event in events} == {*IN_AUDIT, "registered"}
    assert [event.action for event in events if event.at == NOW + 5] == ["released"]
    (verified,) = (event for event in events if event.action == "verified")
    assert (verified.channel, verified.key, verified.did, verified.tries) == ("email", MAIL.key, None, 0)
    registered = [event for event in events if event.action == "registered"]
    assert [(event.key, event.did) for event in registered].count((ANN.key, "did:a:1")) == 2
    assert len({event.id for event in events}) == len(events)


async def test_an_event_waits_until_it_is_due_again_and_a_clock_that_ran_ahead_postpones_none(store):
    """An event waits an hour at most between two tries."""
    year_s = 365 * 86400
    await store.take_lease(subscription_of(HOOK), "all", NOW + year_s, GIVE_UP_S)
    await store.mark_verified(MAIL, NOW + year_s)
    (event,) = await store.outbox.due(HOOK, NOW, 10)
    await store.mark_verified(MAIL, NOW + year_s + 1)
    second = max(await store.outbox.due(HOOK, NOW, 10), key=lambda it: it.at)
    await store.outbox.settle([second], [(event, NOW + 3600)])
    assert await store.outbox.due(HOOK, NOW + 3599, 10) == []
    (again,) = await store.outbox.due(HOOK, NOW + 3600, 10)
    assert (again.id, again.tries) == (event.id, 1)
    gauges = await store.gauges(NOW + year_s + 30)
    assert (gauges.events, gauges.oldest_event_s) == (1, 30.0)


async def test_each_receiver_gets_its_own_and_none_without_a_subscription(store):
    await store.register(registration(), claims)
    await store.mark_verified(MAIL, NOW)
    await subscribe(store)
    await subscribe(store, "engine")
    await store.release("handle", "ann", NOW + 1)
    hook, engine = await told(store), await told(store, "engine")
    assert [event.action for event in hook] == ["released"], "what the row told is not told again when it goes"
    assert len(hook) == len(engine) == 1 and hook[0].id != engine[0].id
    await store.outbox.settle(hook, [])
    assert await told(store) == [] and await told(store, "engine") == engine
    await store.mark_verified(MAIL, NOW + GIVE_UP_S)
    assert await told(store, now=NOW + 2 * GIVE_UP_S) == [], "the subscription has ended"


async def test_the_oldest_are_due_first_and_what_no_one_takes_goes_after_its_time(store):
    await subscribe(store)
    for n in range(5):
        await store.mark_verified(MAIL, NOW + n)
    assert [event.at for event in await store.outbox.due(HOOK, NOW + 3, 3)] == [NOW, NOW + 1, NOW + 2]
    await store.expire(NOW + GIVE_UP_S + CLOCK_MARGIN_S - 1)
    assert len(await told(store)) == 5
    assert await store.expire(NOW + GIVE_UP_S + CLOCK_MARGIN_S + 5) >= 5
    assert await told(store) == []
