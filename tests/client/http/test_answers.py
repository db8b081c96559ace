"""For any response, the client returns a result of the documented form or raises NetworkError (vectors/service/answers.json)."""

import json
from pathlib import Path

import httpx2
import pytest

from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.http.calls import Retries
from holdfast.wire.client_errors import NetworkError

ADDRESS = "0x" + "11" * 20
TEXT = (Path(__file__).resolve().parents[3] / "vectors/service/answers.json").read_text()
FILE = json.loads(TEXT.replace("$address", ADDRESS))
CALLS = {
    "contracts": lambda client: client.contracts(),
    "status": lambda client: client.status(),
    "chains": lambda client: client.chains(),
    "predict": lambda client: client.get_smart_account_address("x", "y"),
    "state": lambda client: client.account_state_on(8453, ADDRESS),
    "lookup": lambda client: client.lookup_did("c"),
    "alias": lambda client: client.check_alias("ada"),
    "availability": lambda client: client.check_session("ada"),
    "check code": lambda client: client.check_code("a@example.com", "email", "1"),
    "recovery terms": lambda client: client.recovery_terms(),
    "recovery": lambda client: client.sign_recovery(account=ADDRESS, new_owners=[]),
    "indexed did": lambda client: client.indexer_did("0x"),
    "indexed account": lambda client: client.indexer_account("0x"),
    "indexed accounts": lambda client: client.indexer_accounts(),
    "indexed events": lambda client: client.indexer_events(),
}


async def asked(call, body):
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json=body))
    async with AsyncServiceClient(
        "https://service.example", transport=transport, retries=Retries(attempts=1)
    ) as client:
        return await CALLS[call](client)


@pytest.mark.parametrize(("call", "more"), [*((call, {}) for call in CALLS), *FILE["as_documented"]])
async def test_the_documented_form(call, more):
    assert await asked(call, FILE["answers"][call] | more) is not None


@pytest.mark.parametrize(("call", "more"), FILE["otherwise"])
async def test_any_other_form(call, more):
    with pytest.raises(NetworkError, match="did not answer in the documented form"):
        await asked(call, FILE["answers"][call] | more)


@pytest.mark.parametrize("body", [None, [], "text", 7, {}, [{}]])
@pytest.mark.parametrize("call", CALLS)
async def test_a_body_without_the_documented_members(call, body):
    with pytest.raises(NetworkError, match="did not answer in the documented form"):
        await asked(call, body)
