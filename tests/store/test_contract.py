"""What every store promises, whatever it is made of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts, Stage
from holdfast.service.ports import NewRegistration, NewSend, NewSession, StoreUnavailable
from holdfast.wire.errors import IDENTIFIER_TAKEN, RATE_LIMITED, Refused

if TYPE_CHECKING:
    from holdfast.rules.quotas import SendFacts
    from holdfast.service.ports import Store

ANN = Identifier(Channel.HANDLE, "ann", "Ann")
MAIL = Identifier(Channel.EMAIL, "ann@example.com", "Ann@example.com")
NOW = 1_800_000_000.0


def admit(_facts: Any) -> None:
    return None


def refuse(_facts: Any) -> None:
    raise Refused(IDENTIFIER_TAKEN)


def session(identifier: Identifier = ANN, did: str = "did:a:1", ip: str = "192.0.2.1", now: float = NOW) -> NewSession:
    return NewSession(identifier=identifier, did=did, ip=ip, now=now)


def registration(**fields: Any) -> NewRegistration:
    base: dict[str, Any] = {
        "identifier": ANN, "did": "did:a:1", "credential": "cred", "tx_hash": "0x1", "block_number": None,
        "smart_account": None, "attestation": None, "confirmation": Confirmation.PENDING, "ip": "192.0.2.1", "now": NOW,
    }  # fmt: skip
    return NewRegistration(**{**base, **fields})


def claims(_facts: RegistrationFacts) -> Move:
    return Move.CLAIM


async def test_an_empty_store_knows_nothing(store: Store) -> None:
    await store.ping()
    assert await store.claim_of("handle", "ann") is None
    assert await store.find_credential("cred") is None
    assert await store.registrations("192.0.2.1") == (0, 0)
    assert await store.verified_at(MAIL) is None
    assert await store.describe("handle", "ann") is None
    assert await store.count_attempt(MAIL, NOW, 5) is None
    assert await store.unconfirmed("", 10) == []


async def test_a_session_is_a_claim_and_charges_its_address(store: Store) -> None:
    seen: list[SessionFacts] = []
    await store.open_session(session(), seen.append)
    await store.open_session(session(MAIL), seen.append)
    assert seen == [SessionFacts(None, 0), SessionFacts(None, 1)]
    assert await store.claim_of("handle", "ann") == Claim("did:a:1", Stage.SESSION)
    assert await store.is_claimed("handle", "ann") and not await store.is_claimed("email", "ann")
    assert await store.registrations("192.0.2.1") == (2, 2)
    assert await store.registrations("192.0.2.2") == (0, 2)


async def test_what_the_rule_refuses_changes_nothing(store: Store) -> None:
    with pytest.raises(Refused):
        await store.open_session(session(), refuse)
    with pytest.raises(Refused):
        await store.register(registration(), refuse)
    with pytest.raises(Refused):
        await store.reserve_send(NewSend(identifier=MAIL, counted=True, ip="192.0.2.1", now=NOW), refuse)
    assert await store.claim_of("handle", "ann") is None
    assert await store.registrations("192.0.2.1") == (0, 0)
    assert not [row for row in store.rows() if row["table"] != "totals"]


async def test_a_rule_that_fails_takes_only_its_own_write_along(store: Store) -> None:
    def fail(_facts: SessionFacts) -> None:
        raise KeyError("a bug in a rule")

    others = [store.open_session(session(Identifier(Channel.HANDLE, f"n{n}", "x")), admit) for n in range(5)]
    results = await asyncio.gather(
        *others[:2], store.open_session(session(), fail), *others[2:], return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None)] * 2 + [KeyError] + [type(None)] * 3
    assert (await store.registrations("192.0.2.1"))[0] == 5


async def test_parallel_writes_see_each_other(store: Store) -> None:
    def at_most_three(facts: SessionFacts) -> None:
        if facts.registrations_from_ip >= 3:
            raise Refused(RATE_LIMITED)

    asked = [store.open_session(session(Identifier(Channel.HANDLE, f"n{n}", "x")), at_most_three) for n in range(50)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(result is None for result in results) == 3


async def test_a_registration_is_found_by_its_credential(store: Store) -> None:
    await store.register(registration(block_number=5, smart_account="0xaa"), claims)
    found = await store.find_credential("cred")
    assert found is not None
    assert (found.identifier, found.channel, found.did, found.tx_hash) == ("Ann", "handle", "did:a:1", "0x1")
    assert (found.block_number, found.smart_account, found.created_at) == (5, "0xaa", NOW)
    assert await store.claim_of("handle", "ann") == Claim("did:a:1", Stage.REGISTERED)


async def test_registration_facts_are_of_that_moment(store: Store) -> None:
    seen: list[RegistrationFacts] = []

    def keep(facts: RegistrationFacts) -> Move:
        seen.append(facts)
        return Move.CONTINUE

    await store.open_session(session(MAIL), admit)
    await store.register(registration(identifier=MAIL, attestation=(b"sig", NOW + 300)), keep)
    with pytest.raises(Refused):
        await store.register(
            registration(identifier=MAIL, attestation=(b"sig", NOW + 300)), lambda facts: refuse(keep(facts))
        )
    assert seen[0] == RegistrationFacts(Claim("did:a:1", Stage.SESSION), 1, False, False)
    assert seen[1] == RegistrationFacts(Claim("did:a:1", Stage.REGISTERED), 1, True, True)


async def test_a_displaced_session_has_the_new_did(store: Store) -> None:
    await store.open_session(session(MAIL, did="did:a:squatter"), admit)
    await store.register(registration(identifier=MAIL), lambda _facts: Move.DISPLACE)
    assert await store.claim_of("email", MAIL.key) == Claim("did:a:1", Stage.REGISTERED)


async def test_sends_slide_out_of_their_windows(store: Store) -> None:
    seen: list[SendFacts] = []
    for at in (NOW, NOW + 10, NOW + 3600, NOW + 86400):
        await store.reserve_send(NewSend(identifier=MAIL, counted=True, ip="192.0.2.1", now=at), seen.append)
    assert [list(facts.sends_from_ip) for facts in seen] == [[], [NOW], [NOW, NOW + 10], [NOW + 10, NOW + 3600]]
    assert [list(facts.codes_to_identifier) for facts in seen] == [[], [NOW], [NOW + 10], []]


async def test_a_charge_can_be_given_back_once(store: Store) -> None:
    seen: list[SendFacts] = []
    send = NewSend(identifier=MAIL, counted=True, ip="192.0.2.1", now=NOW)
    reservation = await store.reserve_send(send, seen.append)
    await store.give_back(reservation)
    await store.give_back(reservation)
    await store.reserve_send(send, seen.append)
    assert list(seen[1].sends_from_ip) == []


async def test_attempts_are_counted_up_to_one_past_the_limit(store: Store) -> None:
    await store.keep_code(MAIL, b"digest", NOW, NOW + 90)
    counted = [await store.count_attempt(MAIL, NOW + 1, 5) for _ in range(8)]
    assert [attempt.attempts for attempt in counted if attempt] == [1, 2, 3, 4, 5, 6, 6, 6]
    assert {attempt.digest for attempt in counted if attempt} == {b"digest"}


async def test_an_expired_code_counts_no_more(store: Store) -> None:
    await store.keep_code(MAIL, b"digest", NOW, NOW + 90)
    attempt = await store.count_attempt(MAIL, NOW + 90, 5)
    assert attempt is not None and attempt.attempts == 0 and attempt.expires_at == NOW + 90


async def test_a_code_is_consumed_once_and_never_in_place_of_a_newer(store: Store) -> None:
    await store.keep_code(MAIL, b"one", NOW, NOW + 90)
    first = await store.count_attempt(MAIL, NOW, 5)
    await store.keep_code(MAIL, b"two", NOW, NOW + 90)
    second = await store.count_attempt(MAIL, NOW, 5)
    assert first is not None and second is not None
    assert not await store.consume_code(MAIL, first.code_id, NOW)
    results = await asyncio.gather(*(store.consume_code(MAIL, second.code_id, NOW + 5) for _ in range(5)))
    assert sorted(results) == [False] * 4 + [True]
    assert await store.verified_at(MAIL) == NOW + 5


async def test_settled_registrations_are_no_longer_unconfirmed(store: Store) -> None:
    for name in "abc":
        await store.register(registration(identifier=Identifier(Channel.HANDLE, name, name), credential=name), claims)
    assert [pending.credential for pending in await store.unconfirmed("", 2)] == ["a", "b"]
    assert [pending.credential for pending in await store.unconfirmed("b", 2)] == ["c"]
    assert await store.settle("a", Confirmation.CONFIRMED, 99, NOW)
    assert not await store.settle("a", Confirmation.REFUSED, None, NOW)
    assert await store.settle("b", Confirmation.REFUSED, None, NOW)
    assert [pending.credential for pending in await store.unconfirmed("", 9)] == ["c"]
    confirmed = await store.find_credential("a")
    assert confirmed is not None and confirmed.block_number == 99
    assert await store.find_credential("b") is None
    assert await store.claim_of("handle", "b") == Claim("did:a:1", Stage.SESSION)


async def test_a_credential_that_the_chain_refused_may_register_again(store: Store) -> None:
    await store.register(registration(), claims)
    await store.settle("cred", Confirmation.REFUSED, None, NOW)
    seen: list[RegistrationFacts] = []
    await store.register(registration(tx_hash="0x2"), lambda facts: seen.append(facts) or Move.CONTINUE)
    assert not seen[0].credential_registered
    found = await store.find_credential("cred")
    assert found is not None and found.tx_hash == "0x2"


async def test_expire_removes_only_what_no_rule_looks_at(store: Store) -> None:
    await store.keep_code(MAIL, b"d", NOW, NOW + 90)
    await store.reserve_send(NewSend(identifier=MAIL, counted=True, ip="192.0.2.1", now=NOW), admit)
    await store.register(registration(attestation=(b"sig", NOW + 300)), claims)
    assert await store.expire(NOW + 1800) == 0
    assert await store.expire(NOW + 2 * 86400) == 3
    assert await store.find_credential("cred") is not None


async def test_one_holder_has_a_lease(store: Store) -> None:
    assert await store.take_lease("chore", "a", NOW, 60)
    assert not await store.take_lease("chore", "b", NOW + 59, 60)
    assert await store.take_lease("chore", "a", NOW + 59, 60)
    assert await store.take_lease("chore", "b", NOW + 119, 60)
    assert await store.take_lease("other", "a", NOW, 60)
    assert await store.take_lease("chore", "a", NOW - 86400, 60), "a lease from a wrong clock must not last for ever"


async def test_release_frees_an_identifier_with_all_that_hangs_on_it(store: Store) -> None:
    await store.register(registration(identifier=MAIL), claims)
    await store.mark_verified(MAIL, NOW)
    assert await store.release("email", MAIL.key, NOW)
    assert not await store.release("email", MAIL.key, NOW)
    assert await store.claim_of("email", MAIL.key) is None
    assert await store.find_credential("cred") is None
    assert await store.verified_at(MAIL) is None
    known = await store.describe("email", MAIL.key)
    assert known is not None and known["history"][-1]["action"] == "released"


async def test_revoking_the_last_credential_leaves_a_session(store: Store) -> None:
    await store.register(registration(), claims)
    await store.register(registration(credential="two"), lambda _facts: Move.CONTINUE)
    assert await store.revoke_credential("cred", NOW)
    assert (await store.claim_of("handle", "ann")) == Claim("did:a:1", Stage.REGISTERED)
    assert await store.revoke_credential("two", NOW)
    assert (await store.claim_of("handle", "ann")) == Claim("did:a:1", Stage.SESSION)
    assert not await store.revoke_credential("two", NOW)


async def test_every_move_is_in_the_history(store: Store) -> None:
    await store.open_session(session(MAIL), admit)
    await store.keep_code(MAIL, b"d", NOW, NOW + 90)
    attempt = await store.count_attempt(MAIL, NOW, 5)
    assert attempt is not None
    await store.consume_code(MAIL, attempt.code_id, NOW)
    await store.register(registration(identifier=MAIL), lambda _facts: Move.CONTINUE)
    await store.settle("cred", Confirmation.CONFIRMED, 1, NOW)
    await store.revoke_credential("cred", NOW)
    known = await store.describe("email", MAIL.key)
    assert known is not None
    actions = [row["action"] for row in known["history"]]
    assert actions == ["session", "code_sent", "verified", "registered", "confirmed", "credential_revoked"]


async def test_a_closed_store_is_unavailable(store: Store) -> None:
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.open_session(session(), admit)
