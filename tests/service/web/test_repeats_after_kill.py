"""`Idempotency-Key` after `kill -9` between an effect and its response: the repeat returns the success."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.support.api import DID
from tests.support.running_service import RunningService, running_service
from tests.support.serving import becomes_true, environment_of, is_healthy

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
    command = [sys.executable, "-m", "tests.support.dying_service", str(port), method]
    process = subprocess.Popen(command, env=environment_of(data_dir) | stored, cwd=ROOT)
    try:
        url = f"http://127.0.0.1:{port}"
        assert becomes_true(lambda: is_healthy(url)), "the service did not start"
        yield RunningService(url, data_dir)
        assert process.wait(30) == -signal.SIGKILL, "the service was to be killed"
    finally:
        process.kill()
        process.wait()


def lost(service, path, body):
    """Send a request, and assert that no response arrives."""
    with pytest.raises(httpx2.TransportError):
        httpx2.post(service.base_url + path, json=body, headers=NAMED, timeout=30)


def post(service, path, body, **headers):
    answer = httpx2.post(service.base_url + path, json=body, headers=headers, timeout=30)
    return answer.status_code, answer.json()


# In the gate, store/test_idempotent_responses.py and test_repeats.py have the others.
@pytest.mark.parametrize(("method", "path", "body", "taken"), [
    ("register", "/api/dids", REGISTRATION, "credential_already_registered"),
    pytest.param("open_session", "/api/sessions", SESSION, "identifier_taken", marks=pytest.mark.soak),
    pytest.param("begin", "/api/sessions", SESSION, "identifier_taken", marks=pytest.mark.soak),  # before its effect
])  # fmt: skip
def test_a_registration_whose_answer_was_lost(tmp_path, stored, method, path, body, taken):
    with dying(tmp_path, method, stored) as service:
        lost(service, path, body)
    with running_service(tmp_path, **stored) as service:
        status, answer = post(service, path, body, **NAMED)
        assert status == 200 and answer["ok"] is True
        assert post(service, path, body) == (409, {"error": taken}), "without the key it stays as documented"


@pytest.mark.soak  # in the gate, test_repeats.py: a repeat sends no second mail, and an attempt that was counted before a crash
def test_a_mail_and_an_attestation_whose_answers_were_lost(tmp_path, stored):
    with dying(tmp_path, "keep_code", stored) as service:
        lost(service, "/api/verify/send", MAIL)
    with dying(tmp_path, "consume_code", stored) as service:
        assert post(service, "/api/verify/send", MAIL, **NAMED) == (200, {"ok": True, "channel": "email"})
        assert len(list((tmp_path / "outbox").iterdir())) == 1, "no second mail"
        body = {**MAIL, "code": service.code_for(MAIL["identifier"])}
        lost(service, "/api/verify/check", body)
    with running_service(tmp_path, **stored) as service:
        status, answer = post(service, "/api/verify/check", body, **NAMED)
        assert status == 200 and answer["verified"] is True
        registration = {**REGISTRATION, **MAIL, "attestation": answer["attestation"]}
        assert post(service, "/api/dids", registration)[0] == 200, "the attestation is good"
