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


def new_account():
    return "0x" + secrets.token_hex(20)


async def usdc_of(world, account):
    return int.from_bytes(await world.rpc.eth_call(ADDRESSES["DevUSDC"], call_data("balanceOf(address)", account)))


async def asked(url, body, origin):
    headers = {"Origin": origin} if origin else {}
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status, answer.headers.get("Access-Control-Allow-Origin")


@pytest.mark.parametrize("origin", [OWN, None])
async def test_the_services_pages_and_tools_get_test_usdc(world, origin):
    account = new_account()
    async with faucet_of(world) as url:
        answers = await asyncio.gather(*(asked(url, f'{{"account": "{account}"}}', origin) for _ in range(3)))
    assert answers == [(200, OWN)] * 3
    assert await usdc_of(world, account) == 3 * GIFT


@pytest.mark.parametrize(
    ("body", "origin", "status"),
    [
        *(('{"account": "%s"}', origin, 403) for origin in ("https://page.example", "null", "http://localhost:1")),
        *(
            (body, OWN, 400)
            for body in ("", "[]", "{}", '{"account": 1}', '{"account": "0x12"}', '{"account": "0xzz"}')
        ),
    ],
)
async def test_a_foreign_page_and_what_is_no_account_get_nothing(world, body, origin, status):
    account = new_account()
    async with faucet_of(world) as url:
        assert await asked(url, body.replace("%s", account), origin) == (status, None)
    assert await usdc_of(world, account) == 0
