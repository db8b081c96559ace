"""`Idempotency-Key` after `kill -9` between an effect and its response: the repeat returns the success."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.support.api import DID
from tests.support.running_service import RunningService, running_service

from holdfast.world.processes import free_port

ROOT = Path(__file__).resolve().parents[3]
NAMED = {"Idempotency-Key": "one-registration"}
MAIL = {"identifier": "ann@example.com", "channel": "email"}
SESSION = {"handle": "ann", "did": DID}
REGISTRATION = {"credentialId": "cred-1", "identifier": "ann", "channel": "handle", "did": DID, "txHash": "0xabc"}


# In the gate, store/test_idempotent_responses.py asks both stores.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def stored(request):
    one_registrar = {"HOLDFAST_REGISTRAR_DID": "did:web:holdfast.example"}
    if request.param == "sqlite":
        return one_registrar
    return {**one_registrar, "HOLDFAST_DATABASE_URL": request.getfixturevalue("postgres_url")}


@contextmanager
def dying(data_dir, method, stored):
    """Run a service that kills itself as soon as the given method of its store has finished."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    settings = {"HOLDFAST_DATA_DIR": str(data_dir), "HOLDFAST_RPC_URL": "http://127.0.0.1:9", **stored}
    command = [sys.executable, "-m", "tests.support.dying_service", str(port), method]
    process = subprocess.Popen(command, env={**kept, **settings}, cwd=ROOT)
    try:
        url = f"http://127.0.0.1:{port}"
        _until_up(url)
        yield RunningService(url, data_dir)
        assert process.wait(30) == -signal.SIGKILL, "the service was to be killed"
    finally:
        process.kill()
        process.wait()


def _until_up(url):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx2.get(url + "/healthz")
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the service did not start")


def lost(service, path, body):
    """Send a request, and assert that no response arrives."""
    with pytest.raises(httpx2.TransportError):
        httpx2.post(service.base_url + path, json=body, headers=NAMED, timeout=30)


def post(service, path, body, **headers):
    answer = httpx2.post(service.base_url + path, json=body, headers=headers, timeout=30)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(("method", "path", "body", "taken"), [
    pytest.param("open_session", "/api/sessions", SESSION, "identifier_taken", marks=pytest.mark.soak),
    ("register", "/api/dids", REGISTRATION, "credential_already_registered"),
])  # fmt: skip
def test_a_registration_whose_answer_was_lost(tmp_path, stored, method, path, body, taken):
    with dying(tmp_path, method, stored) as service:
        lost(service, path, body)
    with running_service(tmp_path, **stored) as service:
        status, answer = post(service, path, body, **NAMED)
        assert status == 200 and answer["ok"] is True
        assert post(service, path, body) == (409, {"error": taken}), "without the key it stays as documented"


@pytest.mark.soak  # in the gate, store/test_idempotent_responses.py: work is taken over when its lease has ended
def test_a_request_that_died_before_its_effect_is_done_by_its_repeat(tmp_path, stored):
    with dying(tmp_path, "begin", stored) as service:
        lost(service, "/api/sessions", SESSION)
    with running_service(tmp_path, **stored) as service:
        assert post(service, "/api/sessions", SESSION, **NAMED)[0] == 200


@pytest.mark.soak  # in the gate, test_repeats.py: an attempt that was counted before a crash
def test_a_code_whose_attestation_was_lost(tmp_path, stored):
    with dying(tmp_path, "consume_code", stored) as service:
        assert post(service, "/api/verify/send", MAIL)[0] == 200
        body = {**MAIL, "code": service.code_for(MAIL["identifier"])}
        lost(service, "/api/verify/check", body)
    with running_service(tmp_path, **stored) as service:
        status, answer = post(service, "/api/verify/check", body, **NAMED)
        assert status == 200 and answer["verified"] is True
        registration = {**REGISTRATION, **MAIL, "attestation": answer["attestation"]}
        assert post(service, "/api/dids", registration)[0] == 200, "the attestation is good"


@pytest.mark.soak  # in the gate, test_repeats.py: a repeat sends no second mail
def test_a_mail_whose_answer_was_lost_is_not_sent_again(tmp_path, stored):
    with dying(tmp_path, "keep_code", stored) as service:
        lost(service, "/api/verify/send", MAIL)
    with running_service(tmp_path, **stored) as service:
        assert post(service, "/api/verify/send", MAIL, **NAMED) == (200, {"ok": True, "channel": "email"})
        assert len(list((tmp_path / "outbox").iterdir())) == 1
        body = {**MAIL, "code": service.code_for(MAIL["identifier"])}
        assert post(service, "/api/verify/check", body)[1]["verified"] is True
