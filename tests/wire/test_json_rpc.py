"""Which JSON-RPC requests the service forwards, and how it rewrites them (JSON-RPC 2.0, section 4)."""

import json

import pytest

from holdfast.wire.json_rpc import MalformedRequest, request_of


def test_only_the_four_fields_are_written_as_they_were_looked_at_and_the_version_is_ours():
    body = b'{"jsonrpc":"1.0","id":"a","method":"first","method":"m","params":[1],"METHOD":"other","auth":"x"}'
    request = request_of(body)
    assert request.method == "m"
    assert json.loads(request.written_anew()) == {"jsonrpc": "2.0", "id": "a", "method": "m", "params": [1]}
    assert json.loads(request_of(b'{"method":"m"}').written_anew()) == {"jsonrpc": "2.0", "method": "m"}


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"7", b"[]", b'[{"method":"m"}]', b"{}", b'{"method":1}', b'{"method":NaN}', b"[" * 100_000]
)
def test_what_is_not_one_request_is_refused(body):
    with pytest.raises(MalformedRequest):
        request_of(body)


@pytest.mark.parametrize("field", ['"id":[]', '"id":true', '"params":"x"', '"params":null', '"params":[1e999]'])
def test_a_field_of_another_type_is_not_passed_on(field):
    request = request_of(b'{"method":"m",%s}' % field.encode())
    with pytest.raises(MalformedRequest):
        request.written_anew()
