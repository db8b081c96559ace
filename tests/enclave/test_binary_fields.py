"""In a binary field, every accepted form of the same bytes is decoded to those bytes."""

import base64

import pytest
from Crypto.Hash import keccak
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.enclave import Enclave


@pytest.fixture(scope="module")
def enclave():
    return Enclave()


@settings(max_examples=200, deadline=None)
@given(data=st.binary(min_size=1, max_size=80))
def test_every_form_is_the_same_bytes(enclave, data):
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


def test_hex_digits_to_the_end_are_hex(enclave):
    assert (
        enclave.call("keccak256", data="0xABcd")["hash"]
        == "0x" + keccak.new(data=b"\xab\xcd", digest_bits=256).hexdigest()
    )
