"""The local world's bundler proxy: what it forwards, and what it answers over HTTP."""

from types import SimpleNamespace

import aiohttp
import msgspec
import pytest

from holdfast.chain import calls
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.user_operations import UserOperation
from holdfast.world.front import DevelopmentBundler

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def post(world, body):
    async with aiohttp.ClientSession() as session, session.post(world.bundler_url, json=body) as answer:
        assert answer.status == 200
        return await answer.json()


def request(method, *parameters):
    return {"jsonrpc": "2.0", "id": 5, "method": method, "params": list(parameters)}


async def test_a_web_page_and_malformed_sponsor_requests_are_refused(world, newcomer):
    body, page = request("eth_supportedEntryPoints"), {"Origin": "https://page.example"}
    async with aiohttp.ClientSession() as session, session.post(world.bundler_url, json=body, headers=page) as answer:
        assert answer.status == 403
    for parameters in ([], [{}], [5, ""], [{}, {}], [{}, "", []], [{}, "", {}, 1], [{}, "0x"]):
        assert (await post(world, request("pm_sponsorUserOperation", *parameters)))["error"]["code"] == -32602
    form = newcomer().registration().to_rpc() | {"maxFeePerGas": "0x1"}
    assert "error" in await post(world, request("pm_sponsorUserOperation", form, "0x" + "11" * 20))


async def test_a_refused_estimate_keeps_the_bundlers_code(world, entry_point, newcomer):
    person = newcomer()
    form = person.first_operation(calls.transfer(ADDRESSES["DevUSDC"], person.account, 1)).to_rpc()
    form |= {"signature": "0x" + "3f" * 64}
    answer = await post(world, request("pm_sponsorUserOperation", form, entry_point.address))
    assert answer["error"]["code"] == -32521


async def test_chosen_fees_are_kept(bundler, newcomer):
    form = newcomer().registration().to_rpc() | {"maxFeePerGas": hex(7 * 10**9), "maxPriorityFeePerGas": hex(10**9)}
    sponsored = await bundler.sponsored(UserOperation.from_rpc(form))
    assert (sponsored.max_fee_per_gas, sponsored.max_priority_fee_per_gas) == (7 * 10**9, 10**9)


async def answer_to(body, posted):
    async def read():
        return body

    async def post(_url, sent):
        posted.append(msgspec.json.decode(sent))
        return b"{}"

    bundler = DevelopmentBundler(None, "http://alto", SimpleNamespace(post=post))
    return msgspec.json.decode((await bundler.answer(SimpleNamespace(headers={}, read=read))).body)


async def test_only_the_four_fields_reach_the_bundler():
    asked, posted = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}, []
    for more in ({"METHOD": "eth_sendRawTransaction"}, {"Method": "x", "Params": []}, {"auth": "y"}):
        await answer_to(msgspec.json.encode(asked | more), posted)
    assert posted == [asked] * 3


NO_REQUESTS = [
    b"", b"{", b"5", b"null", b'"text"', b"[]", b'[{"method":"x"}]', b"{}", b'{"method":1}',
    b'{"method":"x","params":7}',
]  # fmt: skip


@pytest.mark.parametrize("body", NO_REQUESTS)
async def test_what_is_no_request_is_refused_here(body):
    posted = []
    answer = await answer_to(body, posted)
    assert (answer["error"]["code"], answer["id"], posted) == (-32600, None, [])
