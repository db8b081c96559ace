"""The guarantees of every store, whichever database it uses."""

import asyncio
import time
from dataclasses import replace

import pytest
from tests.support.store_cases import (
    ANN,
    BOB,
    MAIL,
    NOW,
    admit,
    admitted,
    attempt,
    claims,
    code,
    goes_on,
    handle,
    history,
    refuse,
    registration,
    sends,
    session,
)

from holdfast.rules.confirmation import NEVER
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import CLOCK_MARGIN_S, Ceilings, Limits
from holdfast.rules.quotas import Counted, Quota, of_address
from holdfast.rules.registration import (
    Claim,
    Confirmation,
    Move,
    RegistrationFacts,
    RegistrationRequest,
    RegistrationRule,
    SessionFacts,
    Stage,
)
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.values import LateTransaction
from holdfast.service.telemetry import metrics
from holdfast.wire.errors import RATE_LIMITED, Refused
from holdfast.wire.requests import NO_TRANSACTION


async def test_a_session_is_a_claim_that_charges_its_address_and_a_registration_is_found_by_its_credential(store):
    seen = []
    await store.open_session(session(), seen.append)
    await store.open_session(session(MAIL), seen.append)
    assert seen == [SessionFacts(None, 0), SessionFacts(None, 1)]
    assert await store.claim_of("handle", "ann") == Claim("did:a:1", Stage.SESSION)
    assert await store.is_claimed("handle", "ann") and not await store.is_claimed("email", "ann")
    assert await store.registrations("192.0.2.1") == (2, 2)
    assert await store.registrations("192.0.2.2") == (0, 2)
    await store.register(registration(block_number=5, smart_account="0xaa"), claims)
    found = await store.find_credential("cred")
    assert (found.identifier, found.channel, found.did, found.tx_hash) == ("Ann", "handle", "did:a:1", "0x1")
    assert (found.block_number, found.smart_account, found.created_at) == (5, "0xaa", NOW)
    assert await store.claim_of("handle", "ann") == Claim("did:a:1", Stage.REGISTERED)


async def test_what_the_rule_refuses_changes_nothing(store, database):
    with pytest.raises(Refused):
        await store.open_session(session(), refuse)
    with pytest.raises(Refused):
        await store.register(registration(), refuse)
    with pytest.raises(Refused):
        await store.charge((sends(1), sends(0, "full")), NOW)
    with pytest.raises(Refused):
        await store.count_attempt(attempt(quotas=(sends(0),)))
    assert await store.claim_of("handle", "ann") is None
    assert await store.registrations("192.0.2.1") == (0, 0)
    assert not [row for row in database.rows() if row["table"] != "totals"]
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.open_session(session(), admit)


async def test_a_rule_that_fails_takes_only_its_own_write_along(store):
    def fail(_facts):
        raise KeyError("a bug in a rule")

    others = [store.open_session(session(handle(f"n{n}")), admit) for n in range(5)]
    results = await asyncio.gather(
        *others[:2], store.open_session(session(), fail), *others[2:], return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None)] * 2 + [KeyError] + [type(None)] * 3
    assert (await store.registrations("192.0.2.1"))[0] == 5


async def test_vitals_count_what_waits_for_the_chain_and_how_late_it_is(store):
    empty = await store.gauges(NOW)
    assert (empty.pending, empty.overdue_s) == (0, 0.0)
    await store.register(registration(), claims)
    ((_, due_at),) = [(row.credential, row.created_at) for row in await store.due(NOW + 60, 10)]
    waiting = await store.gauges(due_at + 60)
    assert waiting.pending == 1 and 0 < waiting.overdue_s <= 60
    await store.put_off([("cred", NOW + 900)])
    assert (await store.gauges(NOW + 60)).overdue_s == 0
    await store.settle("cred", Confirmation.CONFIRMED, 7, NOW)
    assert (await store.gauges(NOW + 60)).pending == 0
    store.update_gauges()


async def test_registration_facts_are_of_that_moment(store):
    seen = []

    def keep(facts):
        seen.append(facts)
        return Move.CONTINUE

    await store.open_session(session(MAIL), admit)
    await store.register(registration(identifier=MAIL, attestation=(b"sig", NOW + 300)), keep)
    with pytest.raises(Refused):
        await store.register(
            registration(identifier=MAIL, attestation=(b"sig", NOW + 300)), lambda facts: refuse(keep(facts))
        )
    assert seen[0] == RegistrationFacts(Claim("did:a:1", Stage.SESSION), 1, False, False, from_opener=True)
    assert seen[1] == RegistrationFacts(
        Claim("did:a:1", Stage.REGISTERED), 1, True, True, credentials=1, unconfirmed=1, from_opener=True
    )


async def test_charges_slide_out_of_their_window_and_of_several_full_ones_the_longest_wait_is_told(store):
    for at in (NOW, NOW + 10):
        await store.charge((sends(2),), at)
    hourly = Quota(Counted.CODES, MAIL.key, 1, 3600)
    await store.charge((hourly,), NOW)
    for at, wait_s in ((NOW + 10, 86390), (NOW + 86399.5, 1)):
        with pytest.raises(Refused) as refused:
            await store.charge((hourly, sends(2)), at)
        assert (refused.value.row, refused.value.retry_after_s) == (RATE_LIMITED, wait_s)
    await store.charge((sends(2),), NOW + 86400)
    with pytest.raises(Refused):
        await store.charge((sends(2),), NOW + 86409)
    await store.charge((sends(2),), NOW + 86410)
    await store.charge((sends(1, "192.0.2.2"), Quota(Counted.CHECKS, "192.0.2.1", 1, 86400)), NOW + 86410)  # are apart


async def test_of_parallel_charges_one_that_a_window_refuses_counts_on_none(store):
    narrow, wide = sends(1), Quota(Counted.CHECKS, "192.0.2.1", 3, 86400)
    assert await admitted(*(store.charge((narrow, wide), NOW) for _ in range(9))) == 1
    for _ in range(2):
        await store.charge((wide,), NOW)
    with pytest.raises(Refused):
        await store.charge((wide,), NOW)


async def test_a_large_window_never_passes_its_limit_and_wastes_little(store):
    """A store may count many events in a few entries; no time to wait may be too short, and none much too long."""
    posts = Quota(Counted.DID_POSTS, "192.0.2.1", 100, 3600)
    admitted = []
    for at in range(0, 9000, 20):
        try:
            await store.charge((posts,), NOW + at)
            admitted.append(at)
        except Refused:
            continue
    assert all(sum(at - 3600 < one <= at for one in admitted) <= 100 for at in admitted)
    assert sum(3600 <= at < 7200 for at in admitted) >= 97
    results = [store.charge((posts,), NOW + 9000) for _ in range(200)]
    refused = [error for error in await asyncio.gather(*results, return_exceptions=True) if isinstance(error, Refused)]
    wait_s = refused[0].retry_after_s
    await store.charge((posts,), NOW + 9000 + wait_s)


async def test_each_event_is_given_back_once_and_in_part(store):
    texts, checks = Quota(Counted.SMS, "", 70, 86400), Quota(Counted.CHECKS, "192.0.2.1", 70, 86400)
    charges = [await store.charge((texts, checks), NOW + 60 * n) for n in range(70)]
    for _ in range(2):
        await store.give_back(charges[-1], {Counted.SMS})
    await store.charge((texts,), NOW + 5000)
    for full in (texts, checks):
        with pytest.raises(Refused):
            await store.charge((full,), NOW + 5000)
    await asyncio.gather(*(store.give_back(charge, {Counted.SMS}) for charge in charges[40:69]))
    assert await admitted(*(store.charge((texts,), NOW + 5001) for _ in range(40))) == 29


async def test_a_network_counts_its_addresses_sessions_and_has_ten_times_their_window(store):
    seen = []
    for n, ip in enumerate(("2001:db8:1:1::/64", "2001:db8:1:2::/64", "2001:db8:2:1::/64")):
        await store.open_session(session(handle(f"n{n}"), ip=ip), seen.append)
    counted = [(facts.registrations_from_ip, facts.registrations_from_network) for facts in seen]
    assert counted == [(0, 0), (0, 1), (0, 0)] and await store.registrations("2001:db8:1:2::/64") == (1, 3)

    def post(host):
        return store.charge(of_address(Counted.DID_POSTS, f"2001:db8:1:{host:x}::/64", 2, 86400), NOW)

    assert await admitted(*(post(n % 40) for n in range(120))) == 20
    await store.charge(of_address(Counted.DID_POSTS, "2001:db8:2:1::/64", 2, 86400), NOW)


async def test_attempts_are_counted_up_to_one_past_the_limit_until_the_code_expires(store):
    await store.keep_code(code())
    counted = [await store.count_attempt(attempt(NOW + 1)) for _ in range(8)]
    assert [one.attempts for one in counted if one] == [1, 2, 3, 4, 5, 6, 6, 6]
    assert {one.digest for one in counted if one} == {b"digest"}
    await store.keep_code(code())
    late = await store.count_attempt(attempt(NOW + 90))
    assert late.attempts == 0 and late.expires_at == NOW + 90


async def test_attempts_at_a_code_that_is_sent_once_more_go_on(store):
    """Also for the address that asked first, whoever lets the code be sent again."""
    first = replace(code(ip="192.0.2.1"), same_until=NOW + 600)
    await store.keep_code(first)
    await asyncio.gather(*(store.count_attempt(attempt(ip=f"198.51.100.{n}")) for n in range(9)))
    again = replace(first, ip="198.51.100.1", now=NOW + 599, expires_at=NOW + 689, same_until=NOW + 1199)
    await asyncio.gather(*(store.keep_code(again) for _ in range(3)))
    asked = [attempt(NOW + 599, ip=ip) for ip in ("198.51.100.1", "192.0.2.1", "192.0.2.1")]
    counted = [await store.count_attempt(one) for one in asked]
    assert [one.attempts for one in counted if one] == [6, 5, 6]
    assert {(one.code_id, one.expires_at) for one in counted if one} == {(counted[0] and counted[0].code_id, NOW + 689)}
    await store.keep_code(replace(again, now=NOW + 600))
    new = await store.count_attempt(attempt(NOW + 600, ip="198.51.100.1"))
    assert new.attempts == 1 and new.code_id not in {one.code_id for one in counted if one}


async def test_another_code_replaces_one_that_could_be_sent_once_more_and_alone_is_consumed(store):
    """Such as after a change to a provider that sends this service's codes."""
    await store.keep_code(replace(code(b""), same_until=NOW + 600))
    first = await store.count_attempt(attempt())
    await store.keep_code(code(b"own"))
    second = await store.count_attempt(attempt())
    assert (second.digest, second.attempts) == (b"own", 1)
    assert not await store.consume_code(MAIL, first.code_id, NOW)
    results = await asyncio.gather(*(store.consume_code(MAIL, second.code_id, NOW + 5) for _ in range(5)))
    assert sorted(results) == [False] * 4 + [True]
    assert await store.verified_at(MAIL) == NOW + 5


async def test_settled_registrations_are_no_longer_unconfirmed(store):
    for name in "abc":
        await store.register(registration(identifier=handle(name), credential_id=name), claims)
    assert [pending.credential for pending in await store.due(NOW, 2)] == ["a", "b"]
    assert await store.settle("a", Confirmation.CONFIRMED, 99, NOW)
    assert not await store.settle("a", Confirmation.REFUSED, None, NOW)
    assert await store.settle("b", Confirmation.REFUSED, None, NOW)
    assert [pending.credential for pending in await store.due(NOW, 9)] == ["c"]
    assert (await store.find_credential("a")).block_number == 99
    await store.register(registration(identifier=handle("d"), credential_id="d", block_number=98), claims)
    assert await store.settle("d", Confirmation.CONFIRMED, None, NOW)
    assert (await store.find_credential("d")).block_number == 98, "which the registration stated"
    assert await store.find_credential("b") is None
    assert await store.claim_of("handle", "b") == Claim("did:a:1", Stage.SESSION)
    seen = []
    again = registration(identifier=handle("b"), credential_id="b", tx_hash="0x2")
    await store.register(again, lambda facts: seen.append(facts) or Move.CONTINUE)
    assert not seen[0].credential_registered and (await store.find_credential("b")).tx_hash == "0x2"


TX = "0x" + "ab" * 32
ACCOUNT = "0x" + "c0" * 20


def late(**fields):
    base = {
        "credential": "cred", "identifier": ANN, "did": "did:a:1", "instead_of": NO_TRANSACTION, "tx_hash": TX,
        "smart_account": ACCOUNT, "block_number": 7, "now": NOW + 5,
    }  # fmt: skip
    return LateTransaction(**{**base, **fields})


async def test_a_transaction_is_added_and_confirms(store):
    await store.register(registration(tx_hash=NO_TRANSACTION), claims)
    await store.put_off([("cred", NEVER)])
    assert await store.add_transaction(late())
    found = await store.find_credential("cred")
    assert (found.tx_hash, found.block_number, found.smart_account, found.created_at) == (TX, 7, ACCOUNT, NOW)
    assert not await store.settle("cred", Confirmation.REFUSED, None, NOW + 6), "it is confirmed"
    known = await store.describe("handle", "ann")
    assert [(round(row["at"] - NOW), row["action"]) for row in known["history"]][-1] == (5, "confirmed")
    assert not await store.add_transaction(late(tx_hash="0x" + "cd" * 32)), "it has one now"
    for outcome in (Confirmation.CONFIRMED, Confirmation.REFUSED):
        other = {"credential_id": outcome.value, "identifier": handle(outcome.value)}
        await store.register(registration(tx_hash=NO_TRANSACTION, **other), claims)
        await store.settle(outcome.value, outcome, None, NOW)
        settled = late(credential=outcome.value, identifier=handle(outcome.value))
        assert not await store.add_transaction(settled), "none is added to what is settled"


async def test_a_transaction_of_another_registration_changes_nothing(store, database):
    await store.register(registration(tx_hash=NO_TRANSACTION), claims)
    await store.register(registration(tx_hash=NO_TRANSACTION, identifier=BOB, credential_id="bobs"), claims)
    before = sorted(map(str, database.rows()))
    for changed in (
        {"credential": "other"}, {"identifier": BOB}, {"identifier": MAIL}, {"did": "did:a:2"}, {"instead_of": "0x1"},
    ):  # fmt: skip
        assert not await store.add_transaction(late(**changed)), changed
    assert sorted(map(str, database.rows())) == before


async def test_of_parallel_transactions_one_is_added(store):
    await store.register(registration(tx_hash=NO_TRANSACTION), claims)
    hashes = [f"0x{n:064x}" for n in range(1, 20)]
    added = await asyncio.gather(*(store.add_transaction(late(tx_hash=tx_hash)) for tx_hash in hashes))
    assert added.count(True) == 1
    found = await store.find_credential("cred")
    assert found.tx_hash == hashes[added.index(True)]


async def test_expire_removes_only_what_no_rule_looks_at(store):
    await store.keep_code(code())
    await store.charge((sends(1),), NOW)
    await store.register(registration(attestation=(b"sig", NOW + 300)), claims)
    assert await store.expire(NOW + 86400) == 0
    assert await store.expire(NOW + 3 * 86400) == 3
    assert await store.find_credential("cred") is not None


async def test_what_the_chain_refused_is_gone_after_thirty_days_and_told_once(store):
    await store.register(registration(), claims)
    await store.register(registration(credential_id="two"), goes_on)
    await store.open_session(session(MAIL), admit)
    displacing = registration(identifier=MAIL, did="did:a:2", credential_id="three")
    await store.register(displacing, lambda _facts: Move.DISPLACE)
    for credential in ("cred", "three"):
        await store.settle(credential, Confirmation.REFUSED, None, NOW)
    assert await store.expire(NOW + 30 * 86400) == 0
    assert await store.expire(NOW + 30 * 86400 + CLOCK_MARGIN_S + 1) == 4, "the rows and their lines of the history"
    assert await credentials_of(store) == {"two"}
    assert [action for action, _ in await history(store)] == ["session", "registered", "registered"]
    assert [action for action, _ in await history(store, MAIL)] == ["session", "displaced"]


async def test_what_is_due_goes_round_the_identifiers(store):
    for n in range(30):
        await store.register(registration(credential_id=f"flood{n:02}", now=NOW + n), claims)
    for name in ("x", "y"):
        identifier = handle(name)
        await store.register(registration(identifier=identifier, credential_id=name, now=NOW + 100), claims)
    due = await store.due(NOW + 100, 5)
    assert [row.credential for row in due] == ["flood00", "x", "y", "flood01", "flood02"]
    assert (due[1].key, due[1].channel, due[1].attempts) == ("x", "handle", 0)


async def test_what_was_put_off_waits_and_a_clock_that_ran_ahead_does_not_make_it_wait_for_ever(store):
    await store.register(registration(), claims)
    await store.put_off([("cred", NOW + 60)])
    assert await store.due(NOW + 59, 9) == []
    assert [row.attempts for row in await store.due(NOW + 60, 9)] == [1]
    await store.put_off([("cred", NOW + 365 * 86400)])
    assert [row.credential for row in await store.due(NOW + 60, 9)] == ["cred"]
    await store.put_off([("cred", NEVER)])
    assert await store.due(NOW + 60, 9) == await store.due(NOW + 40 * 365 * 86400, 9) == []
    assert (await store.gauges(NOW)).pending == 0 and await store.find_credential("cred")


def rule(*, did="did:a:1", signed=False):
    request = RegistrationRequest(Channel.HANDLE, did, reserved=False, signed=signed)
    return RegistrationRule(request, Limits(), Ceilings(credentials_per_identifier=6, unconfirmed_per_identifier=4))


async def credentials_of(store):
    known = await store.describe("handle", "ann")
    return {row["credential"] for row in known["credentials"]}


async def test_parallel_strangers_leave_a_place_to_the_address_that_opened_the_session(store):
    await store.open_session(session(ip="192.0.2.1"), admit)
    theirs = registration(credential_id="theirs", did="did:a:2", ip="192.0.2.1")
    assert await admitted(store.register(theirs, rule(did="did:a:2"))) == 0, "a handle's session is its DID's"
    rows = [registration(credential_id=f"s{n}", ip=f"198.51.100.{n}") for n in range(20)]
    assert await admitted(*(store.register(row, rule()) for row in rows)) == 3
    await store.register(registration(credential_id="own", ip="192.0.2.1"), rule())
    with pytest.raises(Refused):
        await store.register(registration(credential_id="own2", ip="192.0.2.1"), rule())


async def test_signed_credentials_displace_only_those_without_a_signature(store):
    for n in range(4):
        await store.register(registration(credential_id=f"s{n}", now=NOW + n), rule() if n else claims)
    await store.settle("s2", Confirmation.CONFIRMED, 7, NOW + 9)
    await store.register(registration(credential_id="s4", now=NOW + 4), rule())
    own = [registration(credential_id=f"own{n}", now=NOW + 10, signed=True) for n in range(10)]
    assert await admitted(*(store.register(row, rule(signed=True)) for row in own)) == 4, (
        "the limit of unconfirmed ones holds for signed ones too"
    )
    assert sorted(name[:3] for name in await credentials_of(store)) == ["own"] * 4 + ["s2"]
    assert await store.find_credential("s4") is None
    assert await store.find_credential("s2") is not None, "what is confirmed goes last"
    await store.register(registration(credential_id="s4", ip="198.51.100.9", identifier=BOB), claims)
    assert [action for action, _ in await history(store)].count("credential_displaced") == 4


async def test_a_signed_credential_displaces_a_confirmed_one_where_all_are(store):
    for n in range(6):
        await store.register(registration(credential_id=f"s{n}", now=NOW + n), rule() if n else claims)
        await store.settle(f"s{n}", Confirmation.CONFIRMED, 7, NOW + 9)
    for n in range(6):
        await store.register(registration(credential_id=f"own{n}", now=NOW + 10 + n, signed=True), rule(signed=True))
        await store.settle(f"own{n}", Confirmation.CONFIRMED, 7, NOW + 20)
        assert len(await credentials_of(store)) == 6
    assert await credentials_of(store) == {f"own{n}" for n in range(6)}
    with pytest.raises(Refused):
        await store.register(registration(credential_id="own6", signed=True), rule(signed=True))


async def test_one_holder_has_a_lease(store):
    await store.end_lease("chore", "a")
    assert await store.take_lease("chore", "a", NOW, 60)
    assert not await store.take_lease("chore", "b", NOW + 59, 60)
    assert await store.take_lease("chore", "a", NOW + 59, 60)
    assert await store.take_lease("chore", "b", NOW + 119, 60)
    assert await store.take_lease("other", "a", NOW, 60)
    await store.end_lease("chore", "a")
    assert not await store.take_lease("chore", "a", NOW + 120, 60), "only its holder ends a lease"
    await store.end_lease("chore", "b")
    assert await store.take_lease("chore", "a", NOW + 120, 60) and not await store.take_lease("other", "b", NOW, 60)
    assert await store.take_lease("chore", "a", NOW - 86400, 60), "a lease from a wrong clock must not last for ever"


async def test_release_frees_an_identifier_with_all_that_hangs_on_it(store):
    await store.register(registration(identifier=MAIL), claims)
    await store.mark_verified(MAIL, NOW)
    await store.keep_code(code())
    assert await store.release("email", MAIL.key, NOW)
    assert not await store.release("email", MAIL.key, NOW)
    assert await store.claim_of("email", MAIL.key) is None and await store.find_credential("cred") is None
    assert await store.verified_at(MAIL) is None and await store.count_attempt(attempt()) is None
    assert [action for action, _ in await history(store, MAIL)].count("released") == 1


async def test_what_the_chain_refused_takes_nothing_along_that_came_after_it(store):
    await store.register(registration(), claims)
    await store.settle("cred", Confirmation.REFUSED, None, NOW)
    await store.register(registration(identifier=BOB), claims)
    assert await store.release("handle", "ann", NOW)
    assert (await store.find_credential("cred")).identifier == BOB.given


async def test_revoking_the_last_credential_that_the_chain_did_not_refuse_leaves_a_session(store):
    for name in ("two", "one", "refused"):
        await store.register(registration(credential_id=name), claims)
    known = await store.describe("handle", "ann")
    assert [row["credential"] for row in known["credentials"]] == ["one", "refused", "two"], "of one moment by name"
    await store.settle("refused", Confirmation.REFUSED, None, NOW)
    assert await store.revoke_credential("one", NOW)
    assert (await store.claim_of("handle", "ann")) == Claim("did:a:1", Stage.REGISTERED)
    assert await store.revoke_credential("two", NOW)
    assert (await store.claim_of("handle", "ann")) == Claim("did:a:1", Stage.SESSION)
    assert not await store.revoke_credential("two", NOW) and not await store.revoke_credential("refused", NOW)
    known = await store.describe("handle", "ann")
    assert [(row["credential"], row["confirmation"]) for row in known["credentials"]] == [("refused", "refused")]


async def test_what_a_row_told_stays_in_the_history_when_it_goes(store):
    """A registration displaces a session, is refused by the chain three times, and is released; a new session opens."""
    await store.open_session(session(MAIL, did="did:a:1", now=NOW), admit)
    await store.register(registration(identifier=MAIL, did="did:a:2", now=NOW + 1), lambda _facts: Move.DISPLACE)
    assert await store.claim_of("email", MAIL.key) == Claim("did:a:2", Stage.REGISTERED)
    assert await store.registrations("192.0.2.1") == (1, 1), "only a claim is charged to the address"
    assert await told(store) == [(0, "session", "did:a:1"), (1, "displaced", "did:a:2")]
    await store.settle("cred", Confirmation.REFUSED, None, NOW + 2)
    for at in (3, 5):
        again = registration(identifier=MAIL, did="did:a:2", now=NOW + at)
        await store.register(again, goes_on)
        await store.settle("cred", Confirmation.REFUSED, None, NOW + at + 1)
    await store.release("email", MAIL.key, NOW + 7)
    await store.open_session(session(MAIL, did="did:a:3", now=NOW + 8), admit)
    actions = [
        "session", "displaced", "refused", "registered", "refused", "registered", "refused", "released", "session",
    ]  # fmt: skip
    assert [(at, action) for at, action, _ in await told(store)] == list(enumerate(actions))
    assert [did for _, _, did in await told(store)] == ["did:a:1", *["did:a:2"] * 7, "did:a:3"]


async def told(store):
    """Return the history of the identifier MAIL, with times in seconds since NOW."""
    known = await store.describe("email", MAIL.key)
    return [(round(row["at"] - NOW), row["action"], row["did"]) for row in known["history"]]


async def test_reads_and_writes_are_counted_with_the_time_that_they_took(database, monkeypatch):
    monkeypatch.setattr(metrics, "enabled", lambda: True)
    metrics.reset()
    opened, began = database.open(), time.perf_counter()
    await opened.open_session(session(), admit)
    await opened.claim_of("handle", "ann")
    await opened.close()
    took = time.perf_counter() - began
    for histogram in (metrics.STORE_SECONDS, metrics.BATCH_SECONDS):
        for (work,), (*counts, seconds) in histogram.cells.items():
            assert sum(counts) > 0 and 0 < seconds <= took * sum(counts), work
    assert metrics.STORE_SECONDS.cells.keys() == {("read",), ("write",)}
    assert metrics.BATCH_SIZE.cells["write",][-1] >= 1
    metrics.reset()
