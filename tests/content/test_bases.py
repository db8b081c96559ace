"""Bytes and their texts in three bases agree with another implementation, and every text has one spelling."""

from contextlib import suppress

import libipld
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.content.bases import MAX_CHARACTERS, from_multibase, to_multibase


@given(st.binary(max_size=64), st.integers(0, 3), st.sampled_from("bkz"))
def test_libipld_writes_the_same(data, zeros, prefix):
    data = bytes(zeros) + data
    text = libipld.encode_multibase(prefix, data)
    assert to_multibase(prefix, data) == text
    assert from_multibase(text) == data


@given(st.sampled_from("bkz"), st.text("123456789abcdefgh0lIO-ß ", max_size=60))
def test_any_text_is_refused_or_the_only_spelling(prefix, rest):
    with suppress(ValueError):
        assert to_multibase(prefix, from_multibase(prefix + rest)) == prefix + rest


@pytest.mark.parametrize("text", ["", "f00", "bA", "b1", "bab", "k" + "A", "zl0", "k" + "0" * MAX_CHARACTERS])
def test_texts_that_are_none(text):
    with pytest.raises(ValueError, match=r"base32|spelling|substring"):
        from_multibase(text)
