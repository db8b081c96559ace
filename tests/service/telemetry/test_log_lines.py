"""Every line logged for a request has the request's ID, and no line identifies a person or contains a secret."""

import json

from tests.support.serving import becomes_true, free_port

from holdfast.service.lifecycle.housekeeping import Leases
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics
from holdfast.wire.request_ids import REQUEST_ID

PERSON, HANDLE, NUMBER, ADDRESS = "somebody@example.com", "somebody", "+14155552671", "192.0.2.77"
CODE, TOKEN, KEY, CREDENTIAL = "424242", "token-of-a-vault", "key-of-a-repeat", "Y3JlZGVudGlhbC1vZi1zb21lYm9keQ"
DID = "did:new:0x" + "ab" * 32
SECRETS = (
    PERSON, HANDLE, NUMBER, ADDRESS, CODE, TOKEN, KEY, CREDENTIAL, DID, "abab", "providers-token", "bundlers-key",
    "mails-password", "chains-key", "events-key", "planted-admin-secret", "d2ViaG9va3Mtc2VjcmV0",
)  # fmt: skip
DEAD = "http://127.0.0.1:9"


def kinds(client):
    """Send many kinds of requests, each with an ID, and return the statuses."""
    account = "0x" + "ab" * 20
    registration = {
        "credentialId": CREDENTIAL, "identifier": HANDLE, "channel": "handle", "did": DID, "txHash": "0x" + "ab" * 32,
    }  # fmt: skip
    asked = {
        "session": ("POST", "/api/sessions", {"json": {"handle": HANDLE, "did": DID}}),
        "send-mail": ("POST", "/api/verify/send", {"json": {"identifier": PERSON, "channel": "email"}}),
        "send-sms": ("POST", "/api/verify/send", {"json": {"identifier": NUMBER, "channel": "sms"}}),
        "check-mail": ("POST", "/api/verify/check", {"json": {"identifier": PERSON, "channel": "email", "code": CODE}}),
        "check-sms": ("POST", "/api/verify/check", {"json": {"identifier": NUMBER, "channel": "sms", "code": CODE}}),
        "did": ("POST", "/api/dids", {"json": registration}),
        "find": ("GET", "/api/dids/lookup", {"params": {"credentialId": CREDENTIAL}}),
        "taken": ("GET", "/api/sessions/check", {"params": {"identifier": HANDLE}}),
        "balance": ("GET", "/api/balance", {"params": {"account": account, "token": "ETH", "chainId": "84532"}}),
        "bundler": ("POST", "/api/bundler", {"json": {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}}),
        "indexer": ("GET", f"/api/indexer/api/dids/{DID}", {}),
        "pins": ("GET", "/pins", {"headers": {"Authorization": f"Bearer {TOKEN}"}}),
        "absent": ("GET", f"/nowhere/{HANDLE}", {}), "method": ("DELETE", "/api/sessions", {}),
        "preflight": ("OPTIONS", "/api/sessions", {}), "head": ("HEAD", "/enclave.wasm", {}),
        "nonsense": ("POST", "/api/sessions", {"content": f"{{{PERSON}"}),
        "large": ("POST", "/api/sessions", {"content": b" " * 70_000}), "workflow": ("PUT", "/api/workflow", {}),
        "page": ("GET", "/", {}),
        "keyed": ("POST", "/api/sessions", {"json": {"handle": HANDLE, "did": DID}, "headers": {"Idempotency-Key": KEY}}),
    }  # fmt: skip
    got = {}
    for name, (method, path, more) in asked.items():
        headers = {"X-Request-Id": name, "X-Forwarded-For": ADDRESS, **more.pop("headers", {})}
        answer = client.request(method, path, headers=headers, **more)
        assert answer.headers["x-request-id"] == name
        got[name] = answer.status_code
    return got


def lines(server):
    return [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]


def test_every_line_has_an_id_and_no_line_names_a_person(serve, tmp_path):
    reserved = tmp_path / "reserved.txt"
    reserved.write_text("acme\n")
    admin_port = free_port()
    server = serve(
        access_log="on", reserved_file=str(reserved), admin_port=str(admin_port), indexer_url=DEAD,
        mail_url="smtp://me:mails-password@127.0.0.1:9", bundler_url=f"{DEAD}/bundlers-key", confirmation_depth="0",
        rpc_url=f"{DEAD}/chains-key", sms_url=f"twilio://AC1:providers-token@VA1?base_url={DEAD}", INNGEST_DEV="1",
        events_url=f"webhook+{DEAD}/events-key", webhook_secret="whsec_d2ViaG9va3Mtc2VjcmV0d2ViaG9va3Mtc2VjcmV0",
    )  # fmt: skip
    before = len(lines(server))
    with server.client() as client:
        statuses = kinds(client)
        headers = {"Authorization": "Bearer holdfast.eva.planted-admin-secret"}
        ban = {"kind": "name", "value": HANDLE}
        told = client.post(f"http://127.0.0.1:{admin_port}/admin/api/bans", headers=headers, json=ban)
        assert told.status_code == 401
        reserved.write_text("not a handle!\n")
        assert becomes_true(lambda: any("reserved list not" in line["message"] for line in lines(server)))
        for file in server.data.glob("holdfast.db*"):
            file.unlink()
        lost = client.post("/api/sessions", json={"handle": HANDLE, "did": DID}, headers={"X-Request-Id": "lost"})
    server.stop()

    logged = lines(server)[before:]
    assert [line for line in logged if not line.get("request_id")] == []
    of = {}
    for line in logged:
        of.setdefault(line["request_id"], set()).add(line["message"])
    assert all("answered" in of[name] for name in statuses), statuses
    assert {200, 400, 401, 404, 405, 413, 502} <= set(statuses.values())
    by_id = {line["request_id"]: line["status"] for line in logged if line["message"] == "answered"}
    assert by_id == {**by_id, **statuses, "lost": 503} and lost.status_code == 503
    for name, message in (
        ("send-mail", "send failed"), ("send-sms", "send failed"), ("check-sms", "check failed"), ("balance", "chain failed"),
        ("bundler", "bundler failed"), ("indexer", "indexer failed"), ("lost", "store unavailable"),
    ):  # fmt: skip
        assert message in of[name]
    assert any(name.startswith("reserved-") for name in of)
    text = server.log.read_text()
    assert [secret for secret in SECRETS if secret in text] == []


class GoneStore:
    """Its leases cannot be ended; `seen` has the ID that the lines about it have."""

    async def take_lease(self, *_):
        return False

    async def end_lease(self, *_):
        self.seen = REQUEST_ID.get()
        raise StoreUnavailable("gone")


async def test_without_its_lease_a_process_tells_no_deposit_and_its_last_lines_have_an_id():
    leases = Leases(store := GoneStore(), lambda: 0.0)
    metrics.SPONSOR_LOW.set(1)
    await leases.under_lease("sponsor", None)()
    assert metrics.SPONSOR_LOW.cells == {}
    await leases.end()
    assert store.seen.startswith("stop-")
