"""`Idempotency-Key`: repeating a request with the same key returns the first response (store/test_idempotent_responses.py)."""

import asyncio
import gc
import json
import weakref

from tests.support.api import MAIL, OTHER_DID, error_of

from holdfast.service.settings.secrets import Secrets
from holdfast.wire.endpoints import ENDPOINTS

NAMED = {"Idempotency-Key": "7f6a1f2e-one"}
SEND = {"identifier": MAIL, "channel": "email"}
IP = "192.0.2.9"


def same(first, second):
    """Assert that status, body and headers are equal, except for the request ID."""
    assert (second.status_code, second.content) == (first.status_code, first.content)
    headers = [{k: v for k, v in one.headers.items() if k != "x-request-id"} for one in (first, second)]
    assert headers[0] == headers[1]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


def test_every_post_of_a_client_takes_a_key():
    """Except for requests of which a repeat does no harm: with a signed token, a recovery's number or an operation's nonce."""
    posts = {endpoint.name for endpoint in ENDPOINTS if endpoint.method == "POST" and not endpoint.of_snapshots}
    harmless = {"run_workflow", "remove_of_person", "add_address", "ask_recovery", "check_recovery", "sign_recovery", "stop_recovery", "paymaster"}  # fmt: skip
    assert {endpoint.name for endpoint in ENDPOINTS if endpoint.keyed} == posts - harmless


async def test_a_session_or_registration_again_is_made_again(api):
    first = await api.session(headers=NAMED)
    assert first.status_code == 200
    same(first, await api.session(headers=NAMED))
    assert error_of(await api.session()) == (409, "identifier_taken"), "without a key nothing changes"
    assert error_of(await api.session(headers={"Idempotency-Key": "other"})) == (409, "identifier_taken")
    body = {"identifier": MAIL, "channel": "email", "attestation": await api.attested()}
    first = await api.register(**body, headers=NAMED)
    assert first.status_code == 200, "the same key at another endpoint is another request"
    same(first, await api.register(**body, headers=NAMED))
    assert error_of(await api.register(**body)) == (409, "credential_already_registered")


async def test_a_refusal_is_an_answer_too(api):
    await api.session(did=OTHER_DID)
    first = await api.session(headers=NAMED)
    assert error_of(first) == (409, "identifier_taken")
    await api.service.store.release("handle", "ann", api.clock())
    same(first, await api.session(headers=NAMED))
    assert (await api.session()).status_code == 200


async def test_a_malformed_key_is_refused(api):
    for keys in ([""], ["a b"], ["x" * 129], ["ümlaut".encode()], ["tab\tin"], ["\x7f"], ["a", "b"]):
        answer = await api.http.post("/api/sessions", json={}, headers=[("Idempotency-Key", key) for key in keys])
        assert error_of(answer) == (400, "Invalid Idempotency-Key. Must be 1 to 128 visible ASCII characters"), keys
    assert (await api.session(headers={"Idempotency-Key": "~" * 128})).status_code == 200


async def test_a_repeat_sends_no_second_mail_and_burns_no_second_attempt(api):
    first = await api.post("/api/verify/send", **SEND, headers=NAMED, ip=IP)
    same(first, await api.post("/api/verify/send", **SEND, headers=NAMED, ip=IP))
    assert len(api.mailer.sent) == 1
    right = api.mailer.sent[0][1]
    wrong = {**SEND, "code": f"{(int(right) + 1) % 10**6:06d}"}
    for _ in range(9):
        answer = await api.post("/api/verify/check", **wrong, headers={"Idempotency-Key": "wrong"}, ip=IP)
        assert answer.json()["message"] == "The code is incorrect."
    first = await api.post("/api/verify/check", **SEND, code=right, headers=NAMED, ip=IP)
    api.clock.now += 7
    assert first.json()["verified"] is True
    same(first, await api.post("/api/verify/check", **SEND, code=right, headers=NAMED, ip=IP))
    for _ in range(2):
        assert (await api.post("/api/verify/send", **SEND, ip=IP)).status_code == 200
    assert error_of(await api.post("/api/verify/send", **SEND, ip=IP)) == (429, "rate_limited"), "three were counted"


async def test_an_attempt_that_was_counted_before_a_crash_is_not_counted_again(api):
    await api.post("/api/verify/send", **SEND, ip=IP)
    body = {**SEND, "code": api.mailer.sent[0][1]}
    consume = type(api.service.store).consume_code
    crashes = 6  # more crashes than attempts

    async def crash(*_):
        raise ConnectionError

    api.service.verification.store.consume_code = crash
    for _ in range(crashes):
        assert (await api.post("/api/verify/check", **body, headers=NAMED, ip=IP)).status_code == 500
    del api.service.verification.store.consume_code
    assert type(api.service.store).consume_code is consume
    assert (await api.post("/api/verify/check", **body, headers=NAMED, ip=IP)).json()["verified"] is True


def hold(mailer):
    """Hold the mails of a mailer back. Return the event of the first one, and the event that lets them go."""
    begun, gate, send = asyncio.Event(), asyncio.Event(), mailer.send_code

    async def slow(*arguments):
        begun.set()
        await gate.wait()
        await send(*arguments)

    mailer.send_code = slow
    return begun, gate


async def test_a_repeat_waits_for_the_first_response_and_is_told_to_come_back_later(api, monkeypatch):
    begun, gate = hold(api.mailer)
    first = asyncio.create_task(api.post("/api/verify/send", **SEND, headers=NAMED))
    await begun.wait()
    second = asyncio.create_task(api.post("/api/verify/send", **SEND, headers=NAMED))
    done, _ = await asyncio.wait([second], timeout=0.3)
    assert not done, "it was refused at once"
    monkeypatch.setattr("holdfast.service.operations.idempotency.REPEAT_WAITS_S", 0.1)
    third = await api.post("/api/verify/send", **SEND, headers=NAMED)
    assert error_of(third) == (409, "idempotency_key_in_use") and third.headers["retry-after"] == "1"
    gate.set()
    same(await first, await second)


async def test_waiting_costs_little(api, monkeypatch):
    monkeypatch.setattr("holdfast.service.operations.idempotency.REPEAT_WAITS_S", 1.0)
    begun, gate = hold(api.mailer)
    first = asyncio.create_task(api.post("/api/verify/send", **SEND, headers=NAMED))
    await begun.wait()
    store, asked = api.service.idempotency.store, []
    begin = store.begin
    monkeypatch.setattr(store, "begin", lambda repeat: asked.append(repeat) or begin(repeat))
    assert (await api.post("/api/verify/send", **SEND, headers=NAMED)).status_code == 409
    assert len(asked) <= 10  # of which each takes a transaction
    assert all(repeat.bodies is asked[0].bodies for repeat in asked)  # half a megabyte is hashed once
    gate.set()
    await first


async def test_work_whose_client_has_left_is_not_collected_as_garbage(api):
    """An event loop holds tasks weakly: a task that waits for what only itself holds would vanish."""
    begun, waited_for = asyncio.Event(), []
    send = api.mailer.send_code

    async def slow(*arguments):
        future = asyncio.get_running_loop().create_future()
        waited_for.append(weakref.ref(future))
        begun.set()
        await future
        await send(*arguments)

    api.mailer.send_code = slow
    first = asyncio.create_task(api.post("/api/verify/send", **SEND, headers=NAMED))
    await begun.wait()
    first.cancel()
    await asyncio.wait([first])
    del first  # with the traceback, whose frames hold the work's task
    gc.collect()
    waited_for[0]().set_result(None)
    assert (await api.post("/api/verify/send", **SEND, headers=NAMED)).status_code == 200
    assert len(api.mailer.sent) == 1


async def test_a_response_that_asks_to_try_again_is_not_final(make_api):
    api = make_api(MAX_VERIFY_SENDS_PER_IP="1")
    api.mailer.failure = ConnectionError()
    assert (await api.post("/api/verify/send", **SEND, headers=NAMED, ip=IP)).status_code == 500
    api.mailer.failure = None
    assert (await api.post("/api/verify/send", **SEND, headers=NAMED, ip=IP)).status_code == 200
    assert len(api.mailer.sent) == 1
    other = {"Idempotency-Key": "another"}
    limited = await api.post("/api/verify/send", **SEND, headers=other, ip=IP)
    assert error_of(limited) == (429, "rate_limited") and limited.headers["retry-after"] == "86400"
    api.clock.now += 86401
    assert (await api.post("/api/verify/send", **SEND, headers=other, ip=IP)).status_code == 200


async def test_new_keys_from_an_address_are_limited(make_api):
    api = make_api(keyed_requests_per_address_day="2")
    for n in range(2):
        assert (await api.session(f"ann{n}", headers={"Idempotency-Key": f"k{n}"}, ip=IP)).status_code == 200
    refused = await api.session("ann2", headers={"Idempotency-Key": "k2"}, ip=IP)
    assert error_of(refused) == (429, "rate_limited") and int(refused.headers["retry-after"]) == 86400
    assert (await api.session("ann0", headers={"Idempotency-Key": "k0"}, ip=IP)).status_code == 200, "a repeat is free"
    assert (await api.session("ann2", ip=IP)).status_code == 200, "without a key nothing is limited"


async def test_neither_key_nor_body_nor_attestation_is_stored(api):
    await api.post("/api/verify/send", **SEND)
    body = {**SEND, "code": api.mailer.sent[0][1]}
    answer = await api.post("/api/verify/check", **body, headers=NAMED)
    signature = answer.json()["attestation"]["signature"]
    rows = [row for row in api.rows() if row["table"] == "idempotent_responses"]
    assert len(rows) == 1 and rows[0]["answer"]
    stored = json.dumps(rows)
    for secret in (NAMED["Idempotency-Key"], body["code"], MAIL, signature, signature[2:]):
        assert secret not in stored and secret.encode().hex() not in stored


async def test_answers_outlive_a_new_signing_key(make_api):
    old, new = b"k" * 32, b"n" * 32
    first = await make_api(secrets=Secrets((old,), generated=False)).session(headers=NAMED)
    later = make_api(secrets=Secrets((new, old), generated=False))
    same(first, await later.session(headers=NAMED))
