"""Rules that are implemented both in Python and in SQL return the same decisions for the same facts.

| Rule | In SQL | In Python | Test |
|---|---|---|---|
| who may open a session | session_admits_v1 | holdfast.rules.registration.admit_session | test_sessions |
| who may register a DID | registration_move_v1 | holdfast.rules.registration.admit_registration | test_registrations |
| which address a person may add | addition_v1 | holdfast.rules.additions.addition_of | test_additions |
| which attempts at a code count | count_attempt_v1 | holdfast.rules.one_time_codes.count | test_attempts |
| which windows are full | window_full_v1 | holdfast.service.store.sqlite.charges.charge | test_windows |
| the shard of a text | shard_of_v1 | holdfast.rules.shards.shard_of | test_shards |
| the shard of an identifier | shard_of_name_v1 | holdfast.rules.shards.shard_of | test_shards |
| which budget of the sponsor is full | sponsor_full_v1 | holdfast.rules.sponsoring.first_full | test_sponsor_budgets |
| the hash of a name | pseudonym_v1 | holdfast.rules.pseudonyms.Pseudonyms | test_pseudonyms |
"""

import re
from importlib.resources import files
from pkgutil import resolve_name

from hypothesis import given
from hypothesis import strategies as st

from holdfast.rules.additions import AdditionFacts, addition_of
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.one_time_codes import Attempts, count
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.rules.registration import (
    Claim,
    RegistrationFacts,
    RegistrationRequest,
    RegistrationRule,
    SessionFacts,
    SessionRule,
    Stage,
)
from holdfast.rules.shards import shard_of
from holdfast.rules.sponsoring import Budget, Held, first_full
from holdfast.service.store.postgresql.texts import storable
from holdfast.wire.errors import REGISTRATION_CLOSED, Refused

COUNTS = st.integers(0, 40)
DIDS = st.sampled_from(["did:a:1", "did:a:2"])
CLAIMS = st.none() | st.builds(Claim, DIDS, st.sampled_from(Stage))
REQUESTS = st.builds(
    RegistrationRequest, st.sampled_from(Channel), DIDS, st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from([None, None, None, REGISTRATION_CLOSED]),
)  # fmt: skip
LIMITS = st.builds(Limits, max_registrations_per_ip=st.integers(0, 4))


@given(
    facts=st.builds(AdditionFacts, st.booleans(), st.booleans(), CLAIMS, COUNTS, st.booleans()), did=DIDS, most=COUNTS
)
def test_additions(ask, facts, did, most):
    held = (facts.claim.did, facts.claim.stage.value) if facts.claim else (None, None)
    (row,) = ask(
        "addition_v1", did, facts.registered, facts.attestation_used, *held, facts.addresses, facts.banned, most
    )
    assert row[0] == addition_of(did, facts, most).value


@given(facts=st.builds(SessionFacts, CLAIMS, COUNTS, COUNTS), request_=REQUESTS, limits=LIMITS)
def test_sessions(ask, facts, request_, limits):
    rule = SessionRule(request_, limits)
    bounds = rule.bounds()
    (row,) = ask(
        "session_admits_v1", facts.claim is not None, facts.registrations_from_ip, facts.registrations_from_network,
        bounds.own_from, bounds.own_below, bounds.around_from, bounds.around_below,
    )  # fmt: skip
    assert row[0] is _admits(rule, facts)


@given(
    facts=st.builds(
        RegistrationFacts, CLAIMS, COUNTS, st.booleans(), st.booleans(), COUNTS, *[st.integers(0, 20)] * 4,
        st.booleans(),
    ),
    request_=REQUESTS,
    limits=LIMITS,
    ceilings=st.builds(
        Ceilings, credentials_per_identifier=st.integers(0, 20), unconfirmed_per_identifier=st.integers(0, 20)
    ),
)  # fmt: skip
def test_registrations(ask, facts, request_, limits, ceilings):
    rule = RegistrationRule(request_, limits, ceilings)
    bounds = rule.bounds()
    if bounds is None:
        assert request_.barred is not None, "the database leaves it to the rule"
        return
    (row,) = ask(
        "registration_move_v1",
        facts.claim.did if facts.claim else None, facts.claim.stage.value if facts.claim else None,
        facts.registrations_from_ip, facts.registrations_from_network, facts.credential_registered,
        facts.attestation_used, facts.credentials, facts.unconfirmed, facts.signed, facts.signed_unconfirmed,
        facts.from_opener, request_.channel.value, request_.did, bounds.reserved, request_.confirmed, bounds.signed,
        bounds.own_below, bounds.around_below, bounds.credentials_below, bounds.unconfirmed_below,
    )  # fmt: skip
    try:
        expected = rule(facts).value
    except Refused:
        expected = None
    assert row[0] == expected


@given(in_all=st.integers(0, 8), by_others=st.integers(0, 8), limit=st.integers(0, 8), own=st.booleans())
def test_attempts(ask, in_all, by_others, limit, own):
    after, number = count(Attempts(in_all, by_others), limit, own=own)
    assert tuple(ask("count_attempt_v1", in_all, by_others, limit, own)[0]) == (after.in_all, after.by_others, number)


@given(times=st.lists(st.integers(0, 30), max_size=12), limit=st.integers(0, 12), now=st.integers(0, 40))
def test_windows(ask, times, limit, now):
    """`window_full_v1` returns the time of the `limit`-th latest event, as the embedded store's statement does."""
    inside = sorted((float(at) for at in times if at > now - 10), reverse=True)
    rows = ask("window_full_v1", [float(at) for at in times], [1] * len(times), limit, float(now - 10))
    found = [row[0] for row in rows]
    if limit == 0:
        assert found == [None]
    else:
        assert found == inside[limit - 1 : limit]


@given(channel=st.sampled_from(Channel), text=st.text().filter(storable))
def test_shards(ask, channel, text):
    assert ask("shard_of_v1", text)[0][0] == shard_of(text)
    assert ask("shard_of_name_v1", channel.value, text)[0][0] == shard_of(channel.value, text)


@given(key=st.binary(min_size=32, max_size=32), name=st.text().filter(storable))
def test_pseudonyms(ask, key, name):
    pseudonyms = Pseudonyms(key)
    assert ask("pseudonym_v1", *pseudonyms.blocks, "email", name)[0][0] == pseudonyms.of_name("email", name)
    assert ask("pseudonym_v1", *pseudonyms.blocks, "did", name)[0][0] == pseudonyms.of_did(name)


AMOUNTS, SUBJECTS = st.integers(0, 9), ("all", "did", "contract")


@given(
    spent=st.lists(AMOUNTS, min_size=3, max_size=3), limits=st.lists(AMOUNTS, min_size=3, max_size=3), gwei=AMOUNTS,
    held=st.none() | st.builds(Held, st.integers(1, 2), AMOUNTS, st.lists(st.sampled_from(SUBJECTS), unique=True)),
)  # fmt: skip
def test_sponsor_budgets(ask, spent, limits, gwei, held):
    budgets = [Budget(subject, limit, "") for subject, limit in zip(SUBJECTS, limits, strict=True)]
    rows = ask("sponsor_full_v1", list(SUBJECTS), limits, spent, 1, gwei, *(held or (None, None, None)))
    place = first_full(dict(zip(SUBJECTS, spent, strict=True)), budgets, 1, gwei, held)
    assert [tuple(row) for row in rows] == ([] if place is None else [(place, spent[place])])


def test_the_table_names_every_rule():
    """Functions that restate a rule, as their comments say, and the table above are the same; and all exist."""
    folder = files("holdfast.service.store.postgresql") / "migrations"
    scripts = "".join(file.read_text() for file in folder.iterdir())
    restated = re.findall(r"^-- rules/.*\n(?:--.*\n)*CREATE FUNCTION holdfast\.(\w+)", scripts, re.MULTILINE)
    rows = [[cell.strip() for cell in line.split("|")[2:5]] for line in (__doc__ or "").splitlines()[4:] if line]
    assert sorted(sql for sql, _, _ in rows) == sorted(restated)
    for _, python, test in rows:
        assert callable(resolve_name(python))
        assert test in globals()


def _admits(rule, facts):
    try:
        rule(facts)
    except Refused:
        return False
    return True
