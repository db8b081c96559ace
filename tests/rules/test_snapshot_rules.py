"""The rules for stored snapshots refuse invalid input, and never raise an unexpected error."""

import contextlib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from holdfast.rules.gateway import Wanted, attachment, byte_range, wanted
from holdfast.rules.pins import Pin, PinQuery, PinRequest, PinState, moment_text, pin_query
from holdfast.rules.snapshot_quotas import SnapshotLimits, Usage, reservation
from holdfast.service.http.multipart import NotOneFile, OneFile
from holdfast.service.web.input import StrictReader
from holdfast.wire.endpoints import LIST_PINS
from holdfast.wire.failures import SnapshotRefused
from holdfast.wire.requests import ListPins, ReadBlock

PINS = StrictReader[ListPins](LIST_PINS)

words = st.sampled_from(["cid", "name", "match", "status", "before", "after", "limit", "meta", "meta[a]", "x"])


@given(
    st.text(max_size=100)
    | st.lists(st.tuples(words, st.text(max_size=30)), max_size=6).map(lambda p: "&".join(map("=".join, p)))
)
def test_any_query_is_a_list_or_refused(query):
    with contextlib.suppress(SnapshotRefused):
        assert isinstance(pin_query(PINS.of_query(query)), PinQuery)


@given(st.integers(0, 2**52), st.integers(-3, 3))
def test_a_moment_that_was_told_is_compared_exactly(moment_us, shift):
    moment_us = moment_us % 253_402_300_000_000_000
    pin = Pin(
        request_id="r", did="d", request=PinRequest(cid="c"), state=PinState.PINNED,
        created_us=max(0, moment_us + shift),
    )  # fmt: skip
    text = moment_text(moment_us)
    assert pin_query(ListPins(before=text)).takes(pin) is (pin.created_us < moment_us)
    assert pin_query(ListPins(after=text)).takes(pin) is (pin.created_us > moment_us)


keys = st.sampled_from(["format", "dag-scope", "entity-bytes", "car-version", "car-order", "car-dups", "filename"])
media = st.sampled_from(["*/*", "application/vnd.ipld.raw", "application/vnd.ipld.car;dups=y", "a;b=c;q=0", ";", ","])


@given(
    st.dictionaries(keys, st.text(max_size=12) | st.sampled_from(["raw", "car", "y", "n", "1", "0:*"])),
    st.none() | media | st.text(),
)
def test_any_question_has_a_form_or_is_refused(query, accept):
    with contextlib.suppress(SnapshotRefused):
        found = wanted(msgspec.convert(query, ReadBlock), accept)
        assert isinstance(found, Wanted)
        for text in (
            found.etag("cid", "p\udc80"),
            found.media,
            found.location("/ipfs/x y"),
            found.disposition("c", query.get("filename")),
        ):
            assert "\r" not in text and "\n" not in text
            text.encode("latin-1")


@given(st.text(max_size=60) | st.from_regex(r"bytes=[0-9]*-[0-9]*", fullmatch=True), st.integers(0, 50))
def test_a_range_lies_within(header, size):
    try:
        found = byte_range(header, size)
    except ValueError:
        return
    assert found is None or 0 <= found[0] < found[1] <= size


@given(st.text(max_size=300), st.sampled_from(["", ".car", ".bin", ".ipns-record"]))
def test_names_stay_within_their_header(name, ending):
    text = attachment(name + ending, "bafy.car")
    text.encode("latin-1")
    inner = text.split('filename="', 1)[1].split('"', 1)[0]
    assert text.count('"') == 2 and not {"\\", "/", "\r", "\n"} & set(inner)


@given(st.binary(max_size=400), st.lists(st.integers(1, 60), max_size=8))
def test_any_form_is_one_file_or_refused(body, cuts):
    taken = bytearray()
    form = OneFile(b"b", taken.extend)
    with contextlib.suppress(NotOneFile):
        for size in (*cuts, len(body)):
            form.feed(body[:size])
            body = body[size:]
        form.finish()
    assert len(taken) <= 400


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 100), st.booleans())
def test_what_is_reserved_never_passes_the_quota(kept, reserved, asked, declared):
    limits = SnapshotLimits(bytes_per_did=100)
    try:
        given_bytes = reservation(Usage(kept, reserved, 0, 0), limits, asked, declared=declared)
    except SnapshotRefused:
        assert kept + reserved + (asked if declared else 1) > 100
        return
    assert 0 < given_bytes <= asked and kept + reserved + given_bytes <= 100
    assert not declared or given_bytes == asked
