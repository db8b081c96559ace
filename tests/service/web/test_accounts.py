"""The endpoints under /api/accounts with a JSON-RPC endpoint on a socket."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.support.api import error_of
from tests.support.curves import X, Y
from tests.support.registration_receipts import word
from tests.support.upstreams import rpc_results, upstream

from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import V07, V08, V09

ACCOUNT = "0x" + "ab" * 20
PREDICTED = bytes.fromhex("52908400098527886e0f7030069857d2e4169ee7")
SLOTS = (5).to_bytes(32) + b"\xd1" * 32 + (1).to_bytes(32) + b"\x0a" * 32 + (7).to_bytes(32)


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        rpc.answer = rpc_results({"eth_call": word(PREDICTED), "eth_getBalance": hex(1_500_000_000_000_000_000)})
        yield make_api(rpc_url=rpc.url, rpc_url_8453=rpc.url), rpc


async def predict(api, x=X, y=Y, **more):
    return await api.get("/api/accounts/predict", pubKeyX=x, pubKeyY=y, **more)


async def test_predict_asks_the_factory_once_and_answers_in_eip_55(chain):
    api, rpc = chain
    answer = await predict(api, X.upper().replace("0X", "0x"), Y[2:], salt="0x10")
    assert answer.json() == {"address": "0x52908400098527886E0F7030069857D2E4169EE7"}
    call = json.loads(rpc.requests[0][3])["params"][0]
    assert call["to"] == ADDRESSES["AppFactory"]
    assert call["data"] == "0xe81b22ea" + "".join(f"{n:064x}" for n in (int(X, 16), int(Y, 16), 16))
    for x, y in (("0x1", "0x2"), ("0x0", "0x0"), (X, hex(int(Y, 16) + 1)), (X, Y), ("0x" + "f" * 64, Y)):
        assert (await predict(api, x, y)).json() == answer.json(), "the factory judges what is no point of the curve"
        call = json.loads(rpc.requests[-1][3])["params"][0]
        assert call["data"] == "0xe81b22ea" + "".join(f"{n:064x}" for n in (int(x, 16), int(y, 16), 0))
    for salt in ("0", "00", "5", str(2**256 - 1), "0x" + "f" * 64, "0X1f"):
        assert (await predict(api, salt=salt)).status_code == 200, salt
    rpc.answer = rpc_results({})
    assert (await predict(api)).status_code == 200, "a prediction is kept"


async def test_bad_input_is_refused_in_words(api):
    invalid = (400, "Invalid pubKeyX or pubKeyY: expected uint256 hex string")
    assert error_of(await predict(api, "", "0x2")) == (400, "Missing query parameters: pubKeyX, pubKeyY")
    for bad in ("0x", "xyz", "0x" + "f" * 65, "-1", " 1", "\u0661", "0x1\n", "1.0"):
        assert error_of(await predict(api, "0x1", bad)) == error_of(await predict(api, bad, "0x1", salt="x")) == invalid
    for bad in ("-1", "1.5", "ff", "0x", str(2**256), "0x" + "f" * 65, "\u0661", "1_000", "+1", "1e3"):
        message = "Invalid salt: expected uint256 decimal or hex string"
        assert error_of(await predict(api, "0x1", "0x2", salt=bad)) == (400, message), bad
    for query, message in (
        ({"chainId": ""}, "Missing query parameters: account, token, chainId"),
        ({"token": "BTC", "chainId": "1"}, "Unsupported token. Supported: ETH, USDC"),
        ({"chainId": "84532x"}, "Unsupported chainId"), ({"chainId": "\u0668\u0664\u0665\u0663\u0662"}, "Unsupported chainId"),
        ({"account": "0x12"}, "Invalid account: expected 20-byte hex address"),
    ):  # fmt: skip
        asked = {"account": ACCOUNT, "token": "ETH", "chainId": "84532", **query}
        assert error_of(await api.get("/api/balance", **asked)) == (400, message)


async def test_state_decodes_the_five_slots(chain):
    api, rpc = chain
    rpc.answer = rpc_results({"eth_call": "0x" + SLOTS.hex()})
    assert (await api.get("/api/accounts/state", account=ACCOUNT)).json() == {
        "nonce": "5", "did": "0x" + "d1" * 32, "isActive": True, "pubKeyX": "0x" + "0a" * 32,
        "pubKeyY": "0x" + "00" * 31 + "07",
    }  # fmt: skip
    for account in ("0x12", "ab" * 20, "0x" + "g" * 40, "0x" + "ab" * 21, "0x" + "ab" * 20 + "\n"):
        answer = await api.get("/api/accounts/state", account=account)
        assert error_of(answer) == (400, "Invalid account: expected 20-byte hex address"), account


@pytest.mark.parametrize(("entry_point", "question"), [
    (V07.address, "9ee2735b" + "00" * 12 + ACCOUNT[2:]),
    (V07.address.lower(), "9ee2735b" + "00" * 12 + ACCOUNT[2:]),
    *(
        (each, "1f40efa0" + "00" * 12 + ACCOUNT[2:] + "00" * 12 + each[2:].lower())
        for each in (V08.address, V09.address, "0x" + "ee" * 20)
    ),
])  # fmt: skip
async def test_the_configured_entry_point_counts_the_nonce(make_api, entry_point, question):
    async with upstream() as rpc:
        rpc.answer = rpc_results({"eth_call": "0x" + SLOTS.hex()})
        api = make_api(rpc_url=rpc.url, contract_entry_point=entry_point)
        assert (await api.get("/api/accounts/state", account=ACCOUNT)).json()["nonce"] == "5"
        assert json.loads(rpc.requests[0][3])["params"][0]["data"] == "0x" + question


@pytest.mark.parametrize(("token", "answer", "expected"), [
    ("ETH", "0x14d1120d7b160000", {"balance": "1500000000000000000", "decimals": 18, "symbol": "ETH", "formatted": "1.5"}),
    ("eth", "0x0", {"balance": "0", "decimals": 18, "symbol": "ETH", "formatted": "0.0"}),
    ("Eth", "0x1", {"balance": "1", "decimals": 18, "symbol": "ETH", "formatted": "0.000000000000000001"}),
    ("usdc", 2_500_000, {"balance": "2500000", "decimals": 6, "symbol": "USDC", "formatted": "2.500000"}),
    ("USDC", 0, {"balance": "0", "decimals": 6, "symbol": "USDC", "formatted": "0.000000"}),
    ("USDC", 2**256 - 1, {"balance": str(2**256 - 1), "decimals": 6, "symbol": "USDC", "formatted": f"{(2**256 - 1) // 10**6}.{(2**256 - 1) % 10**6:06d}"}),
])  # fmt: skip
async def test_balances(chain, token, answer, expected):
    api, rpc = chain
    results = {"eth_getBalance": answer} if isinstance(answer, str) else {"eth_call": f"0x{answer:064x}"}
    rpc.answer = rpc_results(results)
    for chain_id in ("84532", "8453"):
        found = await api.get("/api/balance", account=ACCOUNT, token=token, chainId=chain_id)
        assert found.json() == expected


PATHS = [
    f"/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}",
    f"/api/accounts/state?account={ACCOUNT}",
    f"/api/balance?account={ACCOUNT}&token=ETH&chainId=84532",
    f"/api/balance?account={ACCOUNT}&token=USDC&chainId=84532",
]
BAD_ANSWERS = {  # vectors/service/json_rpc.json and tests/chain have the others
    "error": lambda _request, _body: web.json_response({"jsonrpc": "2.0", "id": 1, "error": {"code": 3, "message": "reverted"}}),
    "no code": rpc_results({"eth_call": "0x", "eth_getBalance": "0x"}),
    "short": rpc_results({"eth_call": "0x01", "eth_getBalance": "zz"}),
    "null": rpc_results({"eth_call": None, "eth_getBalance": None}),
    "deep": lambda _request, _body: web.Response(text="[" * 100_000),
    "huge": rpc_results({"eth_call": "0x" + "00" * 5000, "eth_getBalance": "zz"}),
}  # fmt: skip


@pytest.mark.parametrize("mood", BAD_ANSWERS)
async def test_every_bad_answer_of_the_chain_is_rpc_error(chain, mood):
    api, rpc = chain
    rpc.answer = BAD_ANSWERS[mood]
    for path in PATHS:
        assert error_of(await api.http.get(path)) == (502, "rpc_error"), path
    rpc.answer = rpc_results({"eth_call": "0x" + SLOTS.hex()})
    assert (await api.get("/api/accounts/state", account=ACCOUNT)).status_code == 200, "a failed answer is not kept"


async def test_a_chain_that_is_down_is_rpc_error(api, caplog):
    for path in PATHS:
        assert error_of(await api.http.get(path)) == (502, "rpc_error"), path
    told = {record.why for record in caplog.records if record.msg == "chain failed"}
    assert told == {"nothing listens at this address"}


async def test_equal_questions_at_one_moment_share_one_call(chain):
    api, rpc = chain
    quick = rpc_results({"eth_call": "0x" + SLOTS.hex()})

    async def slowly(request, body):
        await asyncio.sleep(0.5)
        return quick(request, body)

    rpc.answer = slowly
    answers = await asyncio.gather(*(api.get("/api/accounts/state", account=ACCOUNT) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(rpc.requests) == 1


async def test_contracts_name_the_default_set_and_each_can_be_set(make_api):
    answer = await make_api().get("/api/contracts")
    assert answer.headers["cache-control"] == "public, max-age=86400"
    assert answer.json() == {
        "chainId": 84532, "entryPoint": "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
        "didRegistry": ADDRESSES["DIDRegistry"], "accountHelper": ADDRESSES["AccountHelper"],
        "sessionSBT": ADDRESSES["SessionSBT"], "appFactory": ADDRESSES["AppFactory"],
    }  # fmt: skip
    names = ("ENTRY_POINT", "DID_REGISTRY", "ACCOUNT_HELPER", "SESSION_SBT", "APP_FACTORY")
    given = {f"contract_{name}".lower(): f"0x{number:040x}" for number, name in enumerate(names, 1)}
    body = (await make_api(**given).get("/api/contracts")).json()
    assert list(body.values()) == [84532, *given.values()]


@pytest.mark.parametrize(("settings", "shown"), [
    ({"rpc_url": "https://user:pw@rpc.example:8443/v2/KEY?k=1"}, "https://rpc.example:8443"),
    ({"rpc_url": "https://rpc.example/KEY", "public_rpc_url": "https://open.example/rpc"}, "https://open.example/rpc"),
])  # fmt: skip
async def test_status_shows_no_key_of_the_chains_endpoint(make_api, settings, shown):
    body = (await make_api(**settings).get("/api/status")).json()
    assert body == {"chain": "Base Sepolia", "chainId": 84532, "rpc": shown, "database": "connected"}
