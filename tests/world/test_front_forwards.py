"""Which requests the local world's bundler proxy forwards, tested without a chain."""

from types import SimpleNamespace

import msgspec
import pytest

from holdfast.world.front import DevelopmentBundler


class Recorder:
    def __init__(self):
        self.posted = []

    async def post(self, _url, body):
        self.posted.append(body)
        return b"{}"


async def answer_to(body, transport):
    async def read():
        return body

    bundler = DevelopmentBundler(None, "http://alto", transport)
    return msgspec.json.decode((await bundler.answer(SimpleNamespace(headers={}, read=read))).body)


@pytest.mark.parametrize("more", [{"METHOD": "eth_sendRawTransaction"}, {"Method": "x", "Params": []}, {"auth": "y"}])
async def test_only_the_four_fields_reach_the_bundler(more):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}
    transport = Recorder()
    await answer_to(msgspec.json.encode(asked | more), transport)
    assert msgspec.json.decode(transport.posted[0]) == asked


NO_REQUESTS = [
    b"", b"{", b"5", b"null", b'"text"', b"[]", b'[{"method":"x"}]', b"{}", b'{"method":1}',
    b'{"method":"x","params":7}',
]  # fmt: skip


@pytest.mark.parametrize("body", NO_REQUESTS)
async def test_what_is_no_request_is_refused_here(body):
    transport = Recorder()
    answer = await answer_to(body, transport)
    assert (answer["error"]["code"], answer["id"]) == (-32600, None)
    assert transport.posted == []
