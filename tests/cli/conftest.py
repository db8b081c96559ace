"""The command line as operators use it: every command runs as a separate process."""

import pytest
from tests.support.operator import Operator
from tests.support.serving import CREDENTIAL, DID


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path_factory, monkeypatch):
    """Keep the files of unlock periods apart from the machine's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))


@pytest.fixture
def holdfast(tmp_path):
    """Return a function that runs `holdfast` and asserts that no run ends in a traceback."""
    return Operator(tmp_path / "data")


@pytest.fixture
def registered(serve):
    running, transaction = serve(), "0x" + "ab" * 32
    body = {"credentialId": CREDENTIAL, "did": DID, "identifier": "Ann", "channel": "handle", "txHash": transaction}
    with running.client() as client:
        assert running.session(client, "Ann", "192.0.2.1").status_code == 200
        assert client.post("/api/dids", json=body).is_success
    return running
