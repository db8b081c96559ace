"""IPNS names and records: strict parsing, writing, and which record is newer."""

import hashlib
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from tests.content.content_vectors import cases
from tests.support.signed_records import sign_record

from holdfast.content import names, records
from holdfast.content.cids import cid_of
from holdfast.content.errors import ContentError
from holdfast.content.records import Change

KEY = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
OWN = KEY.public_key().public_bytes_raw()
ROOT = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"
OTHER = cid_of("dag-cbor", b"")
UNTIL = datetime(2040, 1, 1, tzinfo=UTC)


def record(root=ROOT, sequence=7, until=UNTIL, **options):
    return records.read_record(OWN, sign_record(KEY, root, sequence, until, 300, **options))


def test_the_bytes_are_those_of_other_implementations():
    data = record().data
    assert hashlib.sha256(data).hexdigest() == "6193b1cf7b5cc8780bbb3d4509de98ba64525a88603f9b4a70b40099e6cbf6ba"
    read = records.read_record("k51qzi5uqu5djmw2yvf8kk5cdjc1ddc00o4d5sjwi6f79xzcay9j3gkddw5uu4", data)
    assert (read.root_cid, read.sequence, read.ttl_ns) == (ROOT, 7, 300 * 10**9)
    assert read.validity_ns == int(UNTIL.timestamp()) * 10**9
    assert [read.is_expired(UNTIL.timestamp() + seconds) for seconds in (-1, 0)] == [False, True]
    assert record(v1=True).sequence == 7, "fields of version 1 may repeat the data"


@pytest.mark.parametrize("case", cases("ipns/invalid"))
def test_invalid_records(case):
    with pytest.raises(ContentError) as caught:
        records.read_record(case["under"], bytes.fromhex(case["record"]))
    assert caught.value.code == case["code"]


@pytest.mark.parametrize("case", cases("ipns/tolerated"))
def test_records_of_later_versions_are_read(case):
    read = records.read_record(case["under"], bytes.fromhex(case["record"]))
    assert (read.root_cid, read.sequence) == (case["root"], case["sequence"])
    assert read.validity_ns == int(case["validity_ns"])


def test_no_byte_can_be_changed():
    whole = record().data
    for at in range(len(whole)):
        with pytest.raises(ContentError):
            records.read_record(OWN, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


@given(st.binary(max_size=300), st.integers(0, 220))
def test_strange_bytes_end_in_the_one_error(data, at):
    for strange in (data, record().data[:at] + data):
        with suppress(ContentError):
            records.read_record(OWN, strange)
            assert strange == record().data


@pytest.mark.parametrize("case", cases("ipns/names"))
def test_a_key_has_these_names(case):
    key = bytes.fromhex(case["public_key"])
    assert names.name_of(key) == case["texts"][0]
    assert [names.public_key_of(text) for text in case["texts"]] == [key] * len(case["texts"])


@pytest.mark.parametrize("case", cases("ipns/names_invalid"))
def test_other_texts_are_no_names(case):
    with pytest.raises(ContentError) as caught:
        names.public_key_of(case["text"])
    assert caught.value.code == case["code"]


@given(st.text(max_size=90))
def test_any_text_is_refused_or_a_name(text):
    for spelled in (text, "k" + text, "12D3Koo" + text):
        with pytest.raises(ContentError):
            names.public_key_of(spelled)


@given(st.binary(min_size=32, max_size=32))
def test_every_key_is_found_behind_its_name(key):
    assert names.public_key_of(names.name_of(key)) == key == names.public_key_of(names.peer_id_of(key))


def test_which_record_is_newer():
    known, later = record(), datetime(2041, 1, 1, tzinfo=UTC)
    expected = {
        Change.NEWER: record(OTHER, 8),
        Change.RENEWED: record(until=later),
        Change.SAME: record(until=datetime(2039, 1, 1, tzinfo=UTC)),
        Change.OLDER: record(OTHER, 6, later),
        Change.CONFLICT: record(OTHER, 7, later),
    }
    assert {kind: records.compare_records(known, given) for kind, given in expected.items()} == {
        kind: kind for kind in Change
    }
    assert records.compare_records(None, known) is Change.NEWER
    assert records.compare_records(known, known) is Change.SAME
