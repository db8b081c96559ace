"""The rules are pure functions, tested exhaustively if the input space is small, and with random input otherwise."""

import itertools
import json
from ipaddress import ip_address
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from tests.support.curves import GENERATOR

from holdfast.rules import (
    abi,
    addresses,
    attestations,
    confirmation,
    one_time_codes,
    phones,
    quotas,
    reserved_identifiers,
)
from holdfast.rules.allowlists import indexer_path
from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import Channel, Identifier, parse_identifier
from holdfast.wire import p256
from holdfast.wire.encoding import from_iso, to_iso, utc_text
from holdfast.wire.errors import Refused
from holdfast.wire.keccak import keccak256

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "service"
TEXT = st.text(max_size=80)


def key_of(text, channel):
    try:
        return parse_identifier(text, channel).key
    except Refused:
        return None


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=64))
def test_the_short_road_for_plain_handles_leads_where_the_long_one_does(text):
    from precis_i18n import get_profile

    assert key_of(text, Channel.HANDLE) == text.lower() == get_profile("UsernameCaseMapped").enforce(text)


@given(TEXT, st.sampled_from(Channel))
def test_a_key_is_the_key_of_itself(text, channel):
    key = key_of(text, channel)
    assert key is None or key_of(key, channel) == key


@given(TEXT, st.sampled_from(Channel))
def test_no_key_holds_what_could_break_a_header_or_a_line(text, channel):
    key = key_of(text, channel) or ""
    assert not any(
        character.isspace() or not character.isprintable() for character in key if character not in "\u200c\u200d"
    )
    assert "\r" not in key and "\n" not in key and "\0" not in key


@pytest.mark.parametrize(("text", "channel", "key"), [
    ("Ann", "handle", "ann"), ("\uff21nn", "handle", "ann"), (" ann ", "handle", "ann"), ("b\u00fcro", "handle", "b\u00fcro"),
    ("STRASSE", "handle", "strasse"), ("\u0391\u03a3", "handle", "\u03b1\u03c2"), ("x" * 64, "handle", "x" * 64),
    ("Ann@Example.COM", "email", "ann@example.com"), ("a@b", "email", "a@b"), ("\u00fc@\u00fc.de", "email", "\u00fc@\u00fc.de"),
    ("a+b@x-y.de", "email", "a+b@x-y.de"), ("+14155552671", "sms", "+14155552671"), ("+1 415", "sms", None),
    ("+1-415-555-2671", "sms", "+14155552671"), ("+49.30.901820", "sms", "+4930901820"), ("0301234", "sms", None),
    ("+1234", "sms", None), ("+\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668", "sms", None),
    ("a@", "email", None), ("@b", "email", None), ("a@b..c", "email", None), ("a@-b", "email", None), ("a b@c.d", "email", None),
    ("a@b@c", "email", None), ("x" * 65 + "@b.c", "email", None), ("a@" + "b" * 64 + ".c", "email", None),
    ("a,b@c.d", "email", None), ("<a@b.c>", "email", None), ("a@b.c\r\nBcc: d@e.f", "email", None), (".a@b.c", "email", None),
    ("a..b@c.d", "email", None), ("a.@b.c", "email", None), ("x" * 65, "handle", None), ("", "handle", None), ("a\u202eb", "handle", None), ("a\u0000", "handle", None),
    ("a\ufffd", "handle", None), ("a\u200fb", "handle", None),
    ("a@XN--BCHER-KVA.example", "email", "a@b\u00fccher.example"), ("a@xn--0.example", "email", None),
    ("\u0915\u094d\u200d\u0937@x.in", "email", "\u0915\u094d\u200d\u0937@x.in"),
    ("+1800FLOWERS", "sms", None), ("+1415A5552671", "sms", None), ("++14155552671", "sms", None), ("+", "sms", None),
])  # fmt: skip
def test_canonical_keys(text, channel, key):
    assert key_of(text, Channel(channel)) == key


@pytest.mark.parametrize("channel", list(Channel))
@pytest.mark.parametrize("unseen", "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\ufe0f\u034f\u115f\u3164\u2800\U000e0061")
def test_an_invisible_character_is_refused(unseen, channel):
    text = {"handle": f"an{unseen}n", "email": f"an{unseen}n@example.com", "sms": f"+1415{unseen}5552671"}[channel]
    assert key_of(text, channel) is None
    if channel is Channel.EMAIL:
        assert key_of(f"ann@exam{unseen}ple.com", channel) is None


@given(TEXT)
def test_a_did_that_parses_has_the_syntax(text):
    try:
        parse_did(text)
    except Refused:
        return
    assert text.startswith("did:") and text.isascii() and not text.endswith(":")


@pytest.mark.parametrize(
    "did", ["did:a:b", "did:web:x%3A80:p", "did:new:0x" + "0" * 64, "did:x1:a:b:c", "did:a::b", "did:a:" + "b" * 506]
)
def test_dids_of_the_w3c(did):
    assert parse_did(did) == did


@given(st.binary(min_size=8, max_size=8))
def test_codes_are_six_digits_and_a_draw_that_would_favour_low_ones_is_thrown_away(drawn):
    source = iter([b"\xff" * 8, drawn, (41).to_bytes(8)])
    code = one_time_codes.draw_code(lambda _size: next(source))
    assert len(code) == 6 and code.isdigit() and code.isascii()
    assert int(code) in {int.from_bytes(drawn) % 10**6, 41}


def test_a_digest_binds_key_channel_identifier_and_code():
    mail, sms = Identifier(Channel.EMAIL, "a", "a"), Identifier(Channel.SMS, "a", "a")
    digests = {
        one_time_codes.code_digest(key, identifier, code)
        for key in (b"1", b"2") for identifier in (mail, sms, Identifier(Channel.EMAIL, "b", "b")) for code in ("000000", "000001")
    }  # fmt: skip
    assert len(digests) == 12


@given(st.lists(st.tuples(st.none() | st.floats(0, 100), st.integers(1, 10**6)), max_size=5))
def test_the_wait_is_that_of_the_window_that_has_room_last(full):
    windows = [(quotas.Quota(quotas.Counted.SENDS, "x", 1, window_s), at) for at, window_s in full]
    try:
        quotas.admit(windows, 100.0)
    except Refused as refused:
        wait_s = refused.retry_after_s or 0
        assert full and 1 <= wait_s <= max(window_s for _, window_s in full)
        assert all(window_s if at is None else at + window_s <= 100.0 + wait_s for at, window_s in full)
    else:
        assert not full


@pytest.mark.parametrize("limit", range(1, 8))
def test_strangers_never_use_up_the_attempt_that_is_kept_for_the_asker(limit):
    for tries in itertools.product([True, False], repeat=9):
        attempts, numbers = one_time_codes.Attempts(0, 0), []
        for own in tries:
            attempts, number = one_time_codes.count(attempts, limit, own=own)
            numbers.append((own, number))
        admitted = [own for own, number in numbers if number <= limit]
        assert len(admitted) <= limit and admitted.count(False) <= limit - 1
        assert attempts == one_time_codes.Attempts(len(admitted), admitted.count(False))
        assert any(admitted) or True not in tries, "whoever asked for the code has one attempt at least"


@given(st.floats(0, 4e9), st.floats(0, 4e9), st.integers(0, 10**6), st.booleans())
def test_a_registration_is_asked_about_within_the_hour_and_on_its_last_second(now, created_at, asked, in_sight):
    at = confirmation.ask_again_at(now, created_at, asked, in_sight=in_sight)
    assert now < at <= now + 3600 or at == created_at + 86400
    assert now >= created_at + 86400 or at <= created_at + 86400


@pytest.mark.parametrize(("address", "subject", "network"), [
    ("192.0.2.1", "192.0.2.1", None),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
    ("::ffff:192.0.2.1", "192.0.2.1", None),
    ("2002:c000:0201::1", "192.0.2.1", None),
    ("2002:c000:0201:ffff::1", "192.0.2.1", None),
    ("2001:0:53aa:64c:0:7a85:3fff:fdfe", "192.0.2.1", None),
    ("64:ff9b::c000:201", "192.0.2.1", None),
    ("64:ff9b:1::c000:201", "64:ff9b:1::/64", "64:ff9b:1::/48"),
    ("::1", "::/64", "::/48"),
])  # fmt: skip
def test_an_address_counts_as_what_it_is_had_for(address, subject, network):
    assert addresses.subject_of(ip_address(address)) == subject
    assert addresses.network_of(subject) == network
    assert addresses.network_of(addresses.subject_of(None)) is None


@pytest.mark.parametrize(("number", "served"), [
    ("+14155552671", True), ("+4915112345678", True), ("+15005550006", True), ("+18765551234", True),
    ("+19005551234", False), ("+491803123456", False), ("+979123456789", False), ("+80812345678", False),
    ("+88213123456", False), ("+881612345678", False), ("+870773111632", False), ("+878101234567890", False),
])  # fmt: skip
def test_numbers_that_cost_extra_are_no_identifiers(number, served):
    assert (key_of(number, Channel.SMS) is not None) is served


@pytest.mark.parametrize(("number", "country"), [("+14155552671", "US"), ("+18765551234", "JM"), ("+4930901820", "DE")])
def test_a_numbers_country_is_that_of_its_numbering_plan(number, country):
    assert phones.country_of(number) == country


def test_the_curve_has_its_generator_and_no_neighbour():
    x, y = GENERATOR
    prime = 2**256 - 2**224 + 2**192 + 2**96 - 1
    assert p256.on_curve(x, y) and p256.on_curve(x, prime - y)
    for other in ((x + 1, y), (x, y + 1), (y, x), (0, 0), (x + prime, y), (1, 2), (2**256 - 1, 2**256 - 1)):
        assert not p256.on_curve(*other)


@pytest.mark.parametrize(("handle", "reserved"), [
    ("adm1n", True), ("4dmin", True), ("r00t", True), ("adm!n", True), ("\u0430dmin", True), ("admin", True),
    ("p\u0430ypal", True), ("payp\u0430l", True), ("\u0441\u043e\u043e\u0440", True), ("\u03bfmega", True), ("pa\u0131", True),
    ("b\u00fcro", False), ("\u0430\u043d\u043d\u0430\u0441\u044f", False), ("\u65e5\u672c\u304b\u306a", False), ("ann\ud55c\uae00", False),
    ("bob1", False), ("barn", False), ("ann5", False), ("n5", False), ("\u0938\u0941\u092e\u0928", False), ("\u03c3\u03bf\u03c6\u03af\u03b1", False),
])  # fmt: skip
def test_handles_that_exist_to_be_mistaken_cannot_be_had(handle, reserved):
    names = reserved_identifiers.reserved_list(["admin", "root", "ns"])
    key = key_of(handle, Channel.HANDLE)
    assert key is not None and names.holds(key) is reserved
    assert not reserved_identifiers.reserved_list(["admin", "root"], allowed=[handle]).holds(key)


@given(st.dictionaries(st.sampled_from(["identifier", "channel", "registrar", "expires_at"]), st.text()))
def test_the_signing_input_is_rfc_8785(claims):
    assert attestations.canonical(claims) == rfc8785.dumps(claims)


def test_attestation_vectors():
    vectors = json.loads((VECTORS / "attestations.json").read_text("utf-8"))
    key = bytes.fromhex(vectors["key_hex"])
    for vector in vectors["valid"]:
        claims = {name: value for name, value in vector["attestation"].items() if name != "signature"}
        assert attestations.sign(claims, key) == vector["attestation"]["signature"]
        assert (b"holdfast/attestation/v1\n" + rfc8785.dumps(claims)).hex() == vector["signing_input_hex"]
        identifier = parse_identifier(claims["identifier"], Channel(claims["channel"]))
        attestations.verify_at(
            vector["attestation"], identifier, (b"x" * 32, key), claims["registrar"], 1_800_000_000.0
        )
        with pytest.raises(Refused, match="attestation_invalid"):
            attestations.verify_at(vector["attestation"], identifier, (key,), "did:web:another", 1_800_000_000.0)


@given(st.text(max_size=60))
def test_an_indexer_path_that_passes_stays_inside_the_list(tail):
    from posixpath import normpath
    from urllib.parse import unquote

    path = indexer_path("/api/indexer/" + tail)
    if path is not None:
        seen = unquote(unquote(path))
        assert normpath(seen) == seen and seen.split("/")[1] in {"api", "health"}


@given(st.binary(max_size=200))
def test_answers_of_contracts_are_decoded_or_malformed(data):
    for decode in (abi.decode_address, abi.decode_uint256, abi.decode_account_state):
        try:
            decode(data)
        except abi.MalformedAnswer:
            continue
        assert len(data) in {32, 160}


def test_selectors_are_the_hashes_of_their_signatures():
    assert keccak256(b"getAddress(uint256,uint256,uint256)")[:4] == abi.GET_ADDRESS
    assert keccak256(b"getAccountState(address)")[:4] == abi.GET_ACCOUNT_STATE
    assert keccak256(b"getAccountStateAt(address,address)")[:4] == abi.GET_ACCOUNT_STATE_AT
    assert keccak256(b"publicKey()")[:4] == abi.PUBLIC_KEY
    assert keccak256(b"balanceOf(address)")[:4] == abi.BALANCE_OF


def test_a_time_for_people_ends_with_the_year_9999():
    """An owner's expiry on a chain may be later."""
    assert [utc_text(it) for it in (1_700_000_000.9, (1 << 48) - 1)] == ["2023-11-14 22:13 UTC", "9999-12-31 23:59 UTC"]


@given(st.integers(0, 4 * 10**12))
def test_times_lead_back_to_the_millisecond(milliseconds):
    text = to_iso(milliseconds / 1000)
    assert text.endswith("Z") and round(from_iso(text) * 1000) == milliseconds
