"""The quick way of reading a request gives what reading it field by field gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.soak import amount

from holdfast.service.web.input import Reader
from holdfast.wire.endpoints import ENDPOINTS
from holdfast.wire.errors import Refused
from holdfast.wire.requests import Input

NAMES = ["handle", "name", "unknown"]
# Whatever JSON can hold, and above all values that Python or msgspec could take for another type.
VALUES = st.sampled_from([
    None, "", "a", " ", "1", "true", 0, 1, -1, 2**63, 2**70, 1.0, 1.5, 1e300, True, False, [], ["a"], [1], {}, {"a": "b"}, {"a": 1},
])  # fmt: skip


def readers():
    """One reader for each kind of input that is read with a reader."""
    asking = {
        endpoint.input: endpoint
        for endpoint in ENDPOINTS
        if endpoint.input and endpoint.missing and not endpoint.input.STRICT
    }
    return {kind.__name__: Reader(endpoint) for kind, endpoint in asking.items()}


READERS = readers()


def outcome(read, fields):
    try:
        return read(fields)
    except Refused as refused:
        return refused.row


def test_the_readers_are_those_of_the_endpoints_with_fields():
    assert {"OpenSession", "CheckSession", "RegisterDid", "LookUpDid", "SendCode"} <= READERS.keys()


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=amount(60, 300))
@given(data=st.data())
def test_both_ways_give_the_same(kind, data):
    reader = READERS[kind]
    names = [field.name for field in reader._fields] + NAMES
    fields = data.draw(st.dictionaries(st.sampled_from(names), VALUES))
    quick, slow = outcome(reader.of, fields), outcome(reader.picked, fields)
    assert quick == slow
    if isinstance(quick, Input):
        read = [(type(getattr(quick, name)), type(getattr(slow, name))) for name in quick.__struct_fields__]
        assert all(ours is theirs for ours, theirs in read), "1 is not 1.0"
