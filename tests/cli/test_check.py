"""`holdfast check`: what it checks, what it advises, and its exit code."""

import base64
import json
import os
import sqlite3
import subprocess
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.http_servers import http_server
from tests.support.otlp_collector import collecting
from tests.support.running_service import JsonHandler
from tests.support.serving import HOLDFAST, environment_of, free_port
from tests.support.upstreams import rpc_replies

from holdfast.chain.contracts.artifacts import PRODUCTION, load
from holdfast.cli.exits import Exit
from holdfast.rules.webhooks import signature
from holdfast.service.diagnosis import checks as diagnosis
from holdfast.service.settings.values import read_settings
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite.write_check import try_write

KEY = "0123456789abcdef" * 2


RPC = '{"jsonrpc":"2.0","id":1,"result":%s}'
ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"


CODE = {load(name).address.lower(): "0x" + load(name).runtime.hex() for name in PRODUCTION}
CODE[ENTRY_POINT.lower()] = "0x01"


def _chain(chain_id, code):
    """Return the responses of a chain's endpoint with this code, to single requests and to batches."""
    results = {"eth_chainId": chain_id, "eth_getCode": lambda address, _block: code.get(address.lower(), "0x")}
    return lambda body: json.dumps(rpc_replies(body, results)) if body else "{}"


@contextmanager
def _serving(body):
    served = SimpleNamespace(on_time=True, status=200, body=body, messages=[])

    class Handler(JsonHandler):
        def handle_request(self):
            asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.command == "POST":
                served.messages.append((self.headers, asked))
            content = (served.body if isinstance(served.body, str) else served.body(asked)).encode()
            self.send_response(served.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = handle_request  # noqa: N815 - the base class's names

        def date_time_string(self, timestamp=None):
            return super().date_time_string(timestamp) if served.on_time else "Thu, 01 Jan 2015 00:00:00 GMT"

    with http_server(Handler) as port:
        served.url = f"http://127.0.0.1:{port}"
        yield served


@pytest.fixture
def upstreams():
    bodies = {
        "chain": _chain("0x14a34", CODE),
        "chain_8453": _chain("0x2105", {}),
        "bundler": RPC % json.dumps(["0x" + "11" * 20, ENTRY_POINT.lower()]),
        "indexer": '{"ok":true,"chain":84532}',
    }
    with ExitStack() as stack:
        yield SimpleNamespace(**{name: stack.enter_context(_serving(body)) for name, body in bodies.items()})


def _findings(answer):
    return {finding["subject"]: finding for finding in answer.value}


def _all_well(upstreams):
    return {
        "rpc_url": upstreams.chain.url,
        "rpc_url_8453": upstreams.chain_8453.url,
        "bundler_url": upstreams.bundler.url,
        "indexer_url": upstreams.indexer.url,
        "ATTESTATION_SIGNING_KEY": KEY,
    }


def test_all_well_exits_0(holdfast, upstreams):
    answer = holdfast("check", "--json", **_all_well(upstreams))
    found = _findings(answer)
    assert answer.code == Exit.OK, answer.out
    notes = {name for name, finding in found.items() if finding["state"] != "ok"}
    assert notes == {"e-mail", "SMS", "public URL"}  # development settings: a note for each
    assert found["chain"]["found"] == "answers, chain 84532"
    assert found["chain 8453"]["found"] == "answers, chain 8453"
    assert found["contracts"]["found"] == "all 5 there, exactly this release's code"
    assert found["contracts on 8453"]["found"] == "0 of 5 there; none needed for balances"
    assert found["bundler"]["found"] == f"serves the entry point {ENTRY_POINT}"
    assert found["indexer"]["found"] == "agrees with chain 84532"
    assert found["database"]["found"] == "opened, schema current, takes writes"
    others = "signing key, data, holdfast.db, disk, database, public URL, clock, enclave, workflow, traces"
    assert set(found) >= set(others.split(", "))
    assert all(set(finding) == {"subject", "state", "found", "fix"} for finding in answer.value)


@pytest.mark.parametrize(
    ("name", "code", "found", "fix"),
    [
        ("DIDRegistry", "0x", "missing: DIDRegistry", "holdfast contracts deploy --rpc URL"),
        ("AppFactory", "0x6001", "other code stands at the addresses of AppFactory", "do not use"),
        (None, "0x", "the entry point is not there", "HOLDFAST_CONTRACT_ENTRY_POINT must name"),
    ],
)
def test_the_contracts_code_is_compared_on_every_chain_unless_it_is_ones_own(
    holdfast, upstreams, tmp_path, name, code, found, fix
):
    changed = CODE | {(load(name).address if name else ENTRY_POINT).lower(): code}
    upstreams.chain.body, upstreams.chain_8453.body = _chain("0x14a34", changed), _chain("0x2105", changed)
    given = _all_well(upstreams) | {"chain_file": str(tmp_path / "chains.toml")}
    (tmp_path / "chains.toml").write_text(f'[[chain]]\nid = 8453\nbundler = "{upstreams.bundler.url}"\n')
    findings = _findings(holdfast("check", "--json", **given))
    for subject in ("contracts", "contracts on 8453"):
        assert (findings[subject]["state"], findings[subject]["found"]) == ("error", found)
        assert findings[subject]["fix"].startswith(fix)
    own = _findings(holdfast("check", "--json", **given, contract_app_factory="0x" + "77" * 20))["contracts"]
    assert own["state"] == "note" and "HOLDFAST_CONTRACT_APP_FACTORY" in own["found"]


def test_the_endpoint_that_clients_are_told_must_serve_the_chain(holdfast, upstreams):
    secret = _all_well(upstreams) | {"rpc_url": f"{upstreams.chain.url}/hunter2"}
    public = {"public_url": "https://vault.example", "channels": "handle"}
    told = _findings(holdfast("check", "--json", **secret, **public))["public RPC"]
    assert "only this machine reaches" in told["found"]
    told = _findings(holdfast("check", "--json", **secret))["public RPC"]
    assert (told["state"], told["found"]) == ("ok", f"clients are told {upstreams.chain.url}: answers, chain 84532")
    wrong = holdfast("check", "--json", **secret, public_rpc_url=upstreams.chain_8453.url)
    note = _findings(wrong)["public RPC"]
    assert (wrong.code, note["state"]) == (Exit.OK, "note")
    assert note["found"].endswith(": answers for chain 8453, not 84532")
    assert note["fix"].startswith("set HOLDFAST_PUBLIC_RPC_URL") and "hunter2" not in wrong.out


def test_production_at_localhost_is_told(holdfast, serve, upstreams):
    production = {"HOLDFAST_ENV": "production", "channels": "handle", "ATTESTATION_SIGNING_KEY": KEY}
    found = _findings(holdfast("check", "--json", **_all_well(upstreams) | production))["public URL"]
    assert found["state"] == "error" and "in production" in found["found"] and "HOLDFAST_PUBLIC_URL" in found["fix"]
    assert "HOLDFAST_PUBLIC_URL is http://localhost:" in serve(**production).log.read_text()
    assert "HOLDFAST_PUBLIC_URL is" not in serve().log.read_text()


def test_a_disk_without_room_and_a_file_that_root_made_in_the_services_folder_are_found(tmp_path, monkeypatch):
    (tmp_path / "holdfast.db").touch(0o600)
    tmp_path.chmod(0o700)
    settings = read_settings({"HOLDFAST_DATA_DIR": str(tmp_path)})
    assert {found.state for found in (diagnosis.disk(settings), *diagnosis.permissions(settings))} == {"ok"}
    monkeypatch.setattr(diagnosis.shutil, "disk_usage", lambda _: SimpleNamespace(free=499 * 2**20))
    assert (diagnosis.disk(settings).state, diagnosis.disk(settings).found) == ("error", "499 MiB free")
    true_stat = Path.stat

    def of_another_user(path, **more):
        found = true_stat(path, **more)
        is_ours = not path.is_relative_to(tmp_path / "holdfast.db")
        return found if is_ours else os.stat_result((*found[:4], found.st_uid + 1, *found[5:10]))

    monkeypatch.setattr(Path, "stat", of_another_user)
    states = {found.subject: found.state for found in diagnosis.permissions(settings)}
    assert states == {tmp_path.name: "ok", "holdfast.db": "error"}


def test_every_fault_has_a_fix(holdfast, tmp_path):
    nobody = f"http://127.0.0.1:{free_port()}"
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    urls = dict.fromkeys(("rpc_url", "bundler_url", "indexer_url", "INNGEST_DEV"), f"{nobody}/hunter2")
    urls |= {"mail_url": f"smtp://ann:hunter2@{nobody[7:]}", "enclave_url": f"file://{tmp_path}/none"}
    answer = holdfast("check", "--json", **urls, sms_url=f"twilio://AC1:hunter2@VA1?base_url={nobody}")
    assert answer.code == Exit.FAILED
    found = _findings(answer)
    for subject in ("chain", "bundler", "indexer", "e-mail", "SMS", "enclave", "data", "workflow"):
        assert found[subject]["state"] == "error", found[subject]
        assert found[subject]["fix"]
    assert f"there is no folder {tmp_path}/none" in found["enclave"]["found"]
    assert found["e-mail"]["fix"].startswith("check HOLDFAST_MAIL_URL ") and "HOLDFAST_SMS_URL" in found["SMS"]["fix"]
    assert found["signing key"]["state"] == "note"
    text = holdfast("check", **urls)
    lines = text.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL chain"))
    assert lines[at + 1].strip() == "-> set HOLDFAST_RPC_URL to an endpoint of chain 84532 that answers"
    assert "hunter2" not in answer.out + answer.err + text.out + text.err


@pytest.mark.parametrize(
    ("upstream", "status", "body", "subject", "found"),
    [
        ("chain", 200, RPC % '"0x2105"', "chain", "answers for chain 8453, not 84532"),
        ("chain", 500, "hunter2", "chain", ""),
        ("chain", 200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"hunter2"}}', "chain", "error"),
        ("chain_8453", 200, RPC % '"0x14a34"', "chain 8453", "answers for chain 84532, not 8453"),
        ("bundler", 200, RPC % '["0x1111111111111111111111111111111111111111"]', "bundler", "does not serve the entry"),
        ("bundler", 200, RPC % '"hunter2"', "bundler", "not eth_supportedEntryPoints"),
        ("bundler", 200, "<html>hunter2", "bundler", "not with a JSON object"),
        ("bundler", 500, RPC % f'["{ENTRY_POINT}"]', "bundler", "status 500"),
        ("indexer", 200, '{"ok":true,"chain":1}', "indexer", "follows chain 1, not 84532"),
        ("indexer", 200, '{"ok":false,"chain":84532}', "indexer", "does not agree with its chain"),
        ("indexer", 200, '{"ok":true,"chain":"hunter2"}', "indexer", "not as an indexer's /health"),
        ("indexer", 404, '{"ok":true,"chain":84532}', "indexer", "status 404"),
    ],
)
def test_an_upstream_that_answers_wrongly_is_a_fault_and_no_other_line(
    holdfast, upstreams, upstream, status, body, subject, found
):
    served = getattr(upstreams, upstream)
    served.status, served.body = status, body
    answer = holdfast("check", "--json", **_all_well(upstreams))
    assert answer.code == Exit.FAILED
    findings = _findings(answer)
    assert [name for name, finding in findings.items() if finding["state"] == "error"] == [subject]
    assert found in findings[subject]["found"] and findings[subject]["fix"]
    assert "hunter2" not in answer.out + answer.err


def test_a_database_that_takes_no_write_or_is_locked_is_a_fault_and_a_good_one_keeps_nothing(holdfast, tmp_path):
    """A ulimit simulates a nearly full disk: the database can be opened, but another megabyte cannot be written."""
    assert "takes writes" in holdfast("check").out
    command = f"ulimit -f 1200; exec {HOLDFAST} check --json"  # in blocks of 512 bytes
    environment = environment_of(tmp_path / "data")
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, timeout=400, check=False)
    assert done.returncode == Exit.FAILED, done.stderr
    database = {finding["subject"]: finding for finding in json.loads(done.stdout)}["database"]
    assert database["state"] == "error" and database["fix"]
    file = tmp_path / "data" / "holdfast.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_check'").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            try_write(file)


def test_the_receiver_of_events_gets_a_message_only_if_asked(holdfast, upstreams):
    key, secret = b"hunter2" * 4, "whsec_" + base64.b64encode(b"hunter2" * 4).decode()

    def events(*words, **more):
        answer = holdfast("check", "--json", *words, **_all_well(upstreams), **where | more)
        assert "hunter2" not in answer.out + answer.err and secret not in answer.out + answer.err
        return answer if more else _findings(answer)["events"]

    with _serving("{}") as receiver:
        where = {"events_url": f"webhook+{receiver.url}/in?hunter2", "webhook_secret": secret}
        assert events()["found"].endswith("sends a signed message") and receiver.messages == []
        assert events("--send-event")["found"] == f"webhook at {receiver.url[7:]}, message accepted"
        [(headers, body)] = receiver.messages
        assert json.loads(body)["type"] == "check"
        signed = signature((key,), headers["webhook-id"], int(headers["webhook-timestamp"]), body)
        assert headers["webhook-signature"] == signed
        receiver.status = 501  # of HEAD; Python's own server answers this
        assert events()["state"] == "ok"
        receiver.status = 401
        refused = events("--send-event")
        assert refused["found"] == "refused: HTTP 401"
        receiver.status = 503
        failing = events()
    for found in (refused, failing, events()):
        assert found["state"] == "error" and "HOLDFAST_EVENTS_URL" in found["fix"]
    wrong = events(webhook_secret="whsec_hunter2")
    assert wrong.code == Exit.CONFIGURATION and "HOLDFAST_WEBHOOK_SECRET" in wrong.error["error"]


def test_a_clock_that_is_off_and_a_collector_that_takes_no_batch_are_faults_and_an_engine_that_answers_is_not(
    holdfast, upstreams
):
    with collecting() as collector:
        address = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
        well = _findings(holdfast("check", "--json", **_all_well(upstreams), **address))["traces"]
    assert well["state"] == "ok" and collector.headers[0]["x-key"] == "a b" and collector.bodies == [b""]
    upstreams.chain.on_time = False
    given = _all_well(upstreams) | address | {"INNGEST_DEV": upstreams.indexer.url}
    found = _findings(holdfast("check", "--json", **given))
    assert (found["clock"]["state"], found["clock"]["fix"]) == ("error", "synchronise it by NTP")
    assert (found["traces"]["state"], found["workflow"]["state"]) == ("error", "ok")
    assert "hands over once it has registered" in found["workflow"]["found"]


INDEXER = """
import json
asked = 0

async def slow(scope, receive, send):
    global asked
    asked += scope["type"] == "http"
    for event in ("startup", "shutdown") if scope["type"] == "lifespan" else ():
        await receive()
        await send({"type": f"lifespan.{event}.complete"})
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps({"ok": asked > 3, "chain": 84532}).encode()})

async def broken(scope, receive, send):
    raise RuntimeError("hunter2")
"""


@pytest.mark.parametrize(
    ("program", "expected"), [("slow", (Exit.OK, "")), ("broken", (Exit.FAILED, "check HOLDFAST_INDEXER_APP"))]
)
def test_an_indexer_in_this_process_gets_time_and_one_that_breaks_is_a_fault(
    holdfast, tmp_path, upstreams, program, expected
):
    (tmp_path / "own_indexer.py").write_text(INDEXER)
    settings = _all_well(upstreams) | {"indexer_app": f"own_indexer:{program}", "PYTHONPATH": str(tmp_path)}
    answer = holdfast("check", "--json", **settings)
    finding = _findings(answer)["indexer"]
    assert (answer.code, finding["fix"]) == expected
    assert (finding["found"] == "agrees with chain 84532") == (program == "slow")
    assert "hunter2" not in answer.out
