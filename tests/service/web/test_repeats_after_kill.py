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
REGISTRATION = {"credentialId": "cred-1", "identifier": "ann", "channel": "handle", "did": DID, "txHash": "0xabc"}


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


# store/test_idempotent_responses.py and test_repeats.py have other endpoints, which no crash separates from their responses.
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgres_url", marks=pytest.mark.soak)])
def test_a_registration_whose_answer_was_lost(tmp_path, request, database):
    stored = {"HOLDFAST_REGISTRAR_DID": "did:web:holdfast.example"}
    if database != "sqlite":
        stored["HOLDFAST_DATABASE_URL"] = request.getfixturevalue(database)

    def post(service, headers):
        answer = httpx2.post(service.base_url + "/api/dids", json=REGISTRATION, headers=headers, timeout=30)
        return answer.status_code, answer.json()

    with dying(tmp_path, "register", stored) as service, pytest.raises(httpx2.TransportError):
        post(service, NAMED)
    with running_service(tmp_path, **stored) as service:
        status, answer = post(service, NAMED)
        assert status == 200 and answer["ok"] is True
        taken = (409, {"error": "credential_already_registered"})
        assert post(service, {}) == taken, "without the key it stays as documented"
