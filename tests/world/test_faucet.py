"""The faucet of `holdfast dev` gives test USDC to its pages and tools, and nothing to web pages of other origins."""

import asyncio
import secrets
from contextlib import asynccontextmanager

import aiohttp
import pytest

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.world.chain_front import serve_chain
from holdfast.world.faucet import GIFT, PATH, Faucet

pytestmark = pytest.mark.asyncio(loop_scope="session")
OWN = "http://localhost:8787"


@asynccontextmanager
async def faucet_of(world):
    faucet = Faucet(world.chain, world.accounts.tester.address, OWN)
    async with serve_chain(world.chain.rpc_url, OWN, faucet=faucet) as url:
        yield url + PATH


async def usdc_of(world, account):
    return int.from_bytes(await world.rpc.eth_call(ADDRESSES["DevUSDC"], call_data("balanceOf(address)", account)))


async def asked(url, body, origin):
    headers = {"Origin": origin} if origin else {}
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status, answer.headers.get("Access-Control-Allow-Origin")


async def test_the_services_pages_and_tools_get_test_usdc_and_nothing_else_does(world):
    account = "0x" + secrets.token_hex(20)
    body = f'{{"account": "{account}"}}'
    async with faucet_of(world) as url:
        for origin in ("https://page.example", "null", "http://localhost:1"):
            assert await asked(url, body, origin) == (403, None)
        for text in ("", "[]", "{}", '{"account": 1}', '{"account": "0x12"}', '{"account": "0xzz"}'):
            assert await asked(url, text, OWN) == (400, None)
        assert await usdc_of(world, account) == 0
        answers = await asyncio.gather(*(asked(url, body, origin) for origin in (OWN, OWN, None)))
    assert answers == [(200, OWN)] * 3
    assert await usdc_of(world, account) == 3 * GIFT
