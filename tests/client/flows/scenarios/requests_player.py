"""Plays the scenarios of repeated attempts, of single requests, and of the servers that know a name's record."""

import asyncio
import re
from unittest.mock import patch

import httpx2
from tests.client.flows.scenarios.script import error_of, told
from tests.support.tasks import all_others

from holdfast.chain.rpc import RpcClient
from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.flows.failures import chain_errors
from holdfast.client.flows.operations import bundler_of
from holdfast.client.http.calls import Retries
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.client.snapshots.automatic import AutomaticSnapshots
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.name_records import Patience
from holdfast.client.types.service import ContractSet
from holdfast.wire.client_errors import NetworkError

CONTRACTS = ContractSet(
    **dict.fromkeys(("entry_point", "did_registry", "account_helper"), "0x"),
    chain_id=1,
    session_sbt="0x",
    app_factory="0x",
)
# Such as "429 rate_limited after 3": the status, the body's error and the header Retry-After.
_ANSWER = re.compile(r"(\d{3})(?: (?!after )(\S+))?(?: after (.+))?")


async def play(scenario, _folder):
    """Return the outcome of a scenario about repeated attempts, one request, or the servers of one name."""
    return [await _PLAYED[scenario["flow"]](scenario)]


async def _retries(scenario):
    """Return after which waiting times a sequence of failing attempts is repeated."""
    waits = []
    outcomes = scenario["outcomes"] * scenario.get("times", 1)
    left, uses = list(outcomes), [0]

    async def publish():
        if left and (outcome := left.pop(0)) is not None:
            uses[0] += outcome == "lost upload"
            raise error_of("lost" if outcome == "lost upload" else outcome) or AssertionError(outcome)

    async def sleep(seconds):
        waits.append(seconds)
        if len(waits) == scenario.get("changed_at_wait"):
            automatic.changed()
            await asyncio.sleep(60)

    automatic, earlier = AutomaticSnapshots(publish, uses=lambda: uses[0], sleep=sleep), asyncio.all_tasks()
    automatic.changed()
    await all_others(earlier)
    return {"waits_s": waits, "attempts": len(outcomes) - len(left)}


async def _request(scenario):
    """Return how often a request is sent, after which waiting times, and how it ends."""
    keys, waits, left = [], [], list(scenario["answers"])

    def handler(request):
        keys.append(request.headers.get("idempotency-key"))
        if (answer := left.pop(0)) == "lost":
            raise httpx2.ReadError("lost")
        if answer == "late":
            raise httpx2.ReadTimeout("late")
        return httpx2.Response(200, json=scenario["response"]) if answer == "ok" else _refusal(answer)

    async def sleep(seconds):
        waits.append(round(seconds, 3))

    transport = httpx2.MockTransport(handler)
    client = AsyncServiceClient("https://service.example", transport=transport)
    error = None
    with patch("holdfast.client.http.transport.asyncio.sleep", sleep):
        try:
            await _CALLS[scenario["call"]](client, transport)
        except NetworkError as raised:
            error = raised
    await client.close()
    assert len(set(keys)) == 1, "each attempt has the same key"
    message = {"message": str(error)} if isinstance(error, RequestRefused) else {}
    return {"attempts": len(keys), "waits_s": waits, "keyed": keys[0] is not None} | _told(error) | message


def _told(error):
    return {"error": told(error)["error"]}


def _refusal(answer):
    if isinstance(answer, dict) and "text" in answer:
        return httpx2.Response(200, text=answer["text"])
    if isinstance(answer, dict):
        return httpx2.Response(answer["status"], json=answer.get("body", {}), headers=answer.get("headers", {}))
    found = _ANSWER.fullmatch(answer)
    assert found is not None, answer
    status, error, after = found.groups()
    headers = {} if after is None else {"Retry-After": after}
    return httpx2.Response(int(status), json={} if error is None else {"error": error}, headers=headers)


async def _send_elsewhere(client, transport):
    own = ChainTransport(HttpTransport(client.base_url, transport=transport))
    bundler = RpcClient(f"{client.base_url}/api/bundler/8453", own, batches=False, delays_s=())
    with chain_errors():
        return await bundler.call("eth_sendUserOperation")


async def _receipt(client, transport):
    bundler = bundler_of(ChainTransport(HttpTransport(client.base_url, transport=transport)), CONTRACTS)
    with chain_errors():
        return await bundler.receipt(bytes(32))


_CALLS = {
    "look for a receipt": _receipt,
    "send an operation on another chain": _send_elsewhere,
    "look for entry points": lambda client, _: client.bundler("eth_supportedEntryPoints"),
    "status": lambda client, _: client.status(),
    "send code": lambda client, _: client.send_code("ann@example.com", "email"),
}


async def _name(scenario):
    """Return what is read about a name from several servers, of which each returns a record, a status or nothing."""
    known = {name: bytes.fromhex(data) for name, data in scenario["records"].items()}

    async def handler(request):
        base = next(it for it in scenario["servers"] if str(request.url).startswith(f"https://{it}/"))
        answer = scenario["servers"][base]
        answer = answer.get(request.url.path.split("/")[1], 404) if isinstance(answer, dict) else answer
        if answer == "silent":
            await asyncio.Event().wait()
        if answer == "late":
            await asyncio.sleep(0.2)
            answer = scenario["late"]
        return httpx2.Response(answer) if isinstance(answer, int) else httpx2.Response(200, content=known[answer])

    patience = Patience(
        after_first_s=scenario.get("after_first_s", 0),
        main_s=scenario.get("main_s", 0),
        longest_s=scenario.get("longest_s", 30),
    )
    urls = [f"https://{host}" for host in scenario["servers"]]
    gateway = AsyncGateway(
        urls, None, retries=Retries(attempts=1), transport=httpx2.MockTransport(handler), patience=patience
    )
    answers = await gateway.answers(scenario["ipns_name"], absent_is_enough=scenario.get("absent_is_enough", False))
    await gateway.close()
    newest = next((name for name, data in known.items() if answers.newest and answers.newest.data == data), None)
    failed = sorted(it.server.host for it in answers.failed)
    return {"newest": newest, "failed": failed, "has_main": answers.has_main, "at_main": answers.at_main}


_PLAYED = {"retries": _retries, "request": _request, "name": _name}
