"""The embedded store returns transaction hashes exactly as they were sent."""

import pytest

from holdfast.service.store.sqlite.hashes import pack_hash, unpack_hash


@pytest.mark.parametrize(("text", "kept"), [
    ("0x" + "0a" * 32, b"\n" * 32), ("0x" + "0A" * 32, "0x" + "0A" * 32), ("0x0a", "0x0a"), ("0a" * 33, "0a" * 33),
    ("tx", "tx"),
])  # fmt: skip
def test_a_hash_is_kept_as_bytes_and_comes_back_as_sent(text, kept):
    assert pack_hash(text) == kept
    assert unpack_hash(pack_hash(text)) == text
