"""The codecs agree with other implementations on generated data."""

import base64
import hashlib
import json

import libipld
import pytest
from Crypto.Hash import keccak
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.dag_cbor_values import VALUES
from tests.support.enclave_calls import refused

from holdfast.enclave import Enclave, PluginCallError

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def enclave():
    return Enclave()


def dag_json(value):
    """Return a value as DAG-JSON, which cannot represent maps whose only key is "/"; the tests exclude such maps."""
    if isinstance(value, bytes):
        return {"/": {"bytes": base64.b64encode(value).decode().rstrip("=")}}
    if isinstance(value, list):
        return [dag_json(item) for item in value]
    if isinstance(value, dict):
        return {name: dag_json(item) for name, item in value.items()}
    return value


def reserved(value):
    if isinstance(value, list):
        return any(reserved(item) for item in value)
    if isinstance(value, dict):
        return set(value) == {"/"} or any(reserved(item) for item in value.values())
    return False


def call(enclave, function, **fields):
    # unlike the host's msgspec, json reads and writes integers beyond 64 bits
    answer = json.loads(enclave.call_raw(function, json.dumps(fields).encode()))
    assert "error" not in answer, answer
    return answer


def cid_of(codec, data):
    return bytes([1, codec, 0x12, 32]) + hashlib.sha256(data).digest()


@QUICK
@given(value=VALUES.filter(lambda value: not reserved(value)))
def test_dag_cbor_is_the_other_implementations(enclave, value):
    encoded = libipld.encode_dag_cbor(value)
    cid = libipld.encode_cid(cid_of(0x71, encoded))
    answer = call(enclave, "dag_cbor_encode", value=dag_json(value))
    assert base64.b64decode(answer["data"]) == encoded
    assert answer["cid"] == cid
    back = call(enclave, "dag_cbor_decode", data="0x" + encoded.hex())
    assert back == {"value": dag_json(value), "cid": cid}


@pytest.mark.parametrize("number", [1 << 64, -(1 << 64) - 1])
def test_an_integer_that_cbor_cannot_carry_is_refused(enclave, number):
    answer = json.loads(enclave.call_raw("dag_cbor_encode", json.dumps({"value": number}).encode()))
    assert answer["error"]["code"] == "invalid_field"


def test_an_index_has_at_most_fifteen_digits(enclave):
    longest, longer = ([["==", f".[{'1' * digits}]?", None]] for digits in (15, 16))
    assert enclave.call("evaluate_policy", policy=longest, args=[])["holds"]
    assert refused(enclave, "evaluate_policy", policy=longer, args=[]) == "invalid_field"


def test_arguments_have_at_most_64_kib(enclave):
    longest = (64 << 10) - len(libipld.encode_dag_cbor({"": "x" * 1000})) + 1000
    for more, holds in ((0, True), (1, False)):
        args = {"": "x" * (longest + more)}
        assert (len(libipld.encode_dag_cbor(args)) <= 64 << 10) is holds
        if holds:
            assert enclave.call("evaluate_policy", policy=[], args=args)["holds"]
        else:
            assert refused(enclave, "evaluate_policy", policy=[], args=args) == "value_too_large"


@QUICK
@given(data=st.binary(max_size=60))
def test_what_decodes_was_canonical(enclave, data):
    try:
        value = enclave.call("dag_cbor_decode", data="0x" + data.hex())["value"]
    except PluginCallError:
        return
    assert base64.b64decode(call(enclave, "dag_cbor_encode", value=value)["data"]) == data


@QUICK
@given(data=st.binary(min_size=1, max_size=80))
def test_every_form_of_a_binary_field_is_the_same_bytes(enclave, data):
    wanted = "0x" + keccak.new(data=data, digest_bits=256).hexdigest()
    standard, url = base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()
    forms = [list(data), "0x" + data.hex(), standard.rstrip("="), url, url.rstrip("=")]
    # Base64 text that looks like 0x and hex digits is decoded as hex; hosts avoid this by sending lists of numbers.
    for form in forms:
        if not isinstance(form, str) or form == forms[1] or not form.startswith("0x"):
            assert enclave.call("keccak256", data=form)["hash"] == wanted


def test_base64_that_begins_like_hex_is_base64(enclave):
    for text in ("0xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAg=", "0XzzAAAA", "0x/+"):
        data = base64.b64decode(text + "=" * (-len(text) % 4))
        assert enclave.call("keccak256", data=text)["hash"] == "0x" + keccak.new(data=data, digest_bits=256).hexdigest()
