"""A service on another main chain, and the paths of its other chains."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.support.api import error_of
from tests.support.upstreams import rpc_results, upstream

from holdfast.service.upstreams import pool

ACCOUNT = "0x" + "ab" * 20
SLOTS = "0x" + ((5).to_bytes(32) + b"\xd1" * 32 + (1).to_bytes(32) + b"\x0a" * 32 + (7).to_bytes(32)).hex()
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}


@pytest.fixture
async def served(make_api, tmp_path, request):
    """A service on Base and on a second, private chain, whose endpoint and bundler are one upstream."""
    async with upstream() as main, upstream() as other:
        for each in (main, other):
            each.answer = rpc_results({"eth_call": SLOTS, "eth_getBalance": hex(10**18)})
        file = tmp_path / "chains.toml"
        file.write_text(
            f'[[chain]]\nid = 4217\nname = "Our chain"\nrpc = "{other.url}/hunter2"\nbundler = "{other.url}"\n'
            "real_money = false\n"
        )
        settings = getattr(request, "param", {})
        given = {name: main.url if value == "main" else value for name, value in settings.items()}
        yield make_api(chain="8453", rpc_url=main.url, chain_file=str(file), **given), main, other


WITH_BUNDLER = pytest.mark.parametrize("served", [{"bundler_url": "main"}], indirect=True)


async def test_every_body_names_the_main_chain_and_clients_learn_of_every_chain_and_of_no_key(served):
    api, main, other = served
    assert (await api.get("/api/status")).json() == {
        "chain": "Base", "chainId": 8453, "rpc": main.url, "database": "connected",
    }  # fmt: skip
    assert (await api.get("/api/contracts")).json()["chainId"] == 8453
    page = (await api.http.get("/pay/confirm")).text
    for meta in ('chain" content="8453', 'chain-name" content="Base', 'test-money" content="'):
        assert f'<meta name="holdfast-{meta}">' in page
    assert '<meta name="holdfast-test-money" content="">' in (await api.http.get("/vault")).text
    chains = (await api.get("/api/chains")).json()["chains"]
    assert [chain["chainId"] for chain in chains] == [8453, 84532, 4217]
    assert chains[0] == {
        "chainId": 8453, "name": "Base", "main": True, "testMoney": False, "rpc": main.url,
        "explorer": "https://base.blockscout.com", "usdc": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "payments": False,
    }  # fmt: skip
    assert chains[2] == {
        "chainId": 4217, "name": "Our chain", "main": False, "testMoney": True, "rpc": other.url, "explorer": "",
        "usdc": None, "payments": True,
    }  # fmt: skip


async def test_balance_and_state_are_read_from_the_named_chain_and_no_other_is_served(served):
    api, main, other = served
    balance = await api.get("/api/balance", account=ACCOUNT, token="ETH", chainId="4217")
    assert balance.json()["formatted"] == "1.0"
    state = await api.get("/api/accounts/state/4217", account=ACCOUNT)
    assert state.json()["nonce"] == "5"
    assert (len(main.requests), len(other.requests)) == (0, 2)
    usdc = await api.get("/api/balance", account=ACCOUNT, token="USDC", chainId="4217")
    assert error_of(usdc) == (400, "USDC not available on this chain")
    api, _, _ = served
    for chain in ("1", "10", "04217", "4217/x", "", "x"):
        assert error_of(await api.get(f"/api/accounts/state/{chain}", account=ACCOUNT)) == (400, "Unsupported chainId")
        assert error_of(await api.http.post(f"/api/bundler/{chain}", json=ASKED)) == (400, "Unsupported chainId")


async def test_each_chain_has_its_bundler(served):
    api, main, other = served
    other.answer = lambda _request, _body: web.json_response({"jsonrpc": "2.0", "id": 1, "result": [ACCOUNT]})
    assert (await api.http.post("/api/bundler/4217", json=ASKED)).json()["result"] == [ACCOUNT]
    assert [json.loads(request[3])["method"] for request in other.requests] == ["eth_supportedEntryPoints"]
    assert error_of(await api.http.post("/api/bundler/84532", json=ASKED)) == (503, "bundler_not_configured")
    refused = await api.http.post("/api/bundler/4217", json={**ASKED, "method": "eth_sendRawTransaction"})
    assert refused.status_code == 403
    assert main.requests == []


def answering(number):
    return lambda _request, _body: web.json_response({"jsonrpc": "2.0", "id": 1, "result": number})


@WITH_BUNDLER
async def test_the_same_key_on_another_chain_is_another_request(served):
    api, main, other = served
    main.answer, other.answer = answering(1), answering(2)
    named = {"Idempotency-Key": "one"}
    for _ in range(2):
        for chain, number in (("8453", 1), ("4217", 2)):
            answer = await api.http.post(f"/api/bundler/{chain}", json=ASKED, headers=named)
            assert answer.json()["result"] == number
    assert (len(main.requests), len(other.requests)) == (1, 1)


@WITH_BUNDLER
async def test_a_bundler_that_hangs_does_not_delay_another_chains(served, monkeypatch):
    monkeypatch.setattr(pool, "CONNECTIONS", 1)
    api, main, other = served
    asked, done = asyncio.Event(), asyncio.Event()

    async def hangs(request, body):
        asked.set()
        await done.wait()
        return answering(2)(request, body)

    main.answer, other.answer = answering(1), hangs
    hanging = asyncio.create_task(api.http.post("/api/bundler/4217", json=ASKED))
    try:
        await asked.wait()
        assert (await api.http.post("/api/bundler", json=ASKED)).json().get("result") == 1
        assert not hanging.done(), "the other bundler answered only after this one's request had ended"
    finally:
        done.set()
        await hanging
