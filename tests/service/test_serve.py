"""The service as operators run it: startup, banner, signals, several processes, both HTTP servers, and metrics."""

import signal
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx2
import psutil
import pytest
from tests.support.running_service import chain_answer, json_server
from tests.support.serving import PATIENCE_S, becomes_true, running_server, wait_until_ready
from tests.support.silent_host import silent_names
from tests.support.soak import cases

SERVERS = {
    "granian": {}, "granian, two workers": {"workers": "2"},
    "granian, with an indexer": {"indexer_url": "http://127.0.0.1:9"}, "uvicorn": {"server": "uvicorn"},
}  # fmt: skip
WORKERS = cases({"one": "1", "two": "2"}, "two")


@pytest.mark.parametrize("settings", cases(SERVERS, "granian, with an indexer", "uvicorn"))
def test_it_serves_and_stops_cleanly(serve, settings):
    server = serve(**settings)
    with server.client() as client:
        assert client.get("/api/status").json()["database"] == "connected"
        assert server.session(client, "ann", "192.0.2.1").status_code == 200
        assert client.head("/enclave.wasm").headers["content-type"] == "application/wasm"
        assert int(client.head("/enclave.wasm").headers["content-length"]) > 1000
        assert client.get("/api/indexer/health").status_code in {502, 503}
        for path in ("/", "/api/status", "/nothing"):
            assert client.get(path).headers["date"].endswith(" GMT"), "RFC 9110, section 6.6.1"
    assert server.stop() == 0
    assert server.data.stat().st_mode & 0o777 == 0o700


def test_the_banner_says_what_is_configured_and_what_is_not(serve):
    text = serve(mail_url="smtp://user:hunter2@mail.example:25", bundler_url="http://b.example/KEY").log.read_text()
    assert "e-mail        smtp" in text and "SMS           outbox" in text
    assert "bundler       configured" in text and "indexer       none" in text and "generated" in text
    assert "hunter2" not in text and "KEY" not in text.replace("SIGNING_KEY", "")
    text = serve(**REAL, ATTESTATION_SIGNING_KEY=KEY, public_url="https://id.example").log.read_text()
    assert "bundler       none: registrations are not put on the chain" in text and "(production)" in text
    assert "a registration needs a transaction" in serve(registration_proof="required").log.read_text()


@pytest.mark.parametrize("workers", WORKERS)
def test_hangup_rereads_the_reserved_list(serve, tmp_path, workers):
    file = tmp_path / "reserved.txt"
    replace(file, "alpha\n")
    server = serve(reserved_file=str(file), workers=workers)
    sent = iter(range(1, sys.maxsize))

    def all_hear():
        """Hang up once more; a process writes at most one line for each, so with more lines than that all have written."""
        server.process.send_signal(signal.SIGHUP)
        return server.log.read_text().count("reserved list re-read") > next(sent) * (int(workers) - 1)

    assert becomes_true(all_hear)
    with server.client() as client:

        def free(handle):
            """Send the request over a new connection, so that any of the processes may respond."""
            path = f"/api/sessions/check?handle={handle}"
            return bool(client.get(path, headers={"Connection": "close"}).json()["available"])

        assert client.get("/api/sessions/check?handle=alpha").json()["reason"] == "reserved" and free("beta")
        replace(file, "beta\n")
        server.process.send_signal(signal.SIGHUP)
        assert becomes_true(lambda: not any(free("beta") for _ in range(6)) and all(free("alpha") for _ in range(6)))
    assert server.process.poll() is None


def replace(file, text):
    """Write the file as a careful editor does: no process reads a half."""
    (new := file.with_suffix(".new")).write_text(text)
    new.replace(file)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_hangup_during_the_start_ends_nothing(serve, workers):
    server = serve(wait=False, workers=workers)
    while not server.log.read_text():  # the banner is printed before any process serves
        time.sleep(0.002)
    for _ in range(20):
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.02)
    wait_until_ready(server)
    assert server.stop() == 0


KEY = "0123456789abcdef" * 2
REAL = {"mail_url": "smtps://m.example", "sms_url": "twilio://AC1:T@VA1"}


# tests/service/settings and tests/cli/test_config.py have settings that cannot be; these stand for what a start reads later.
UNABLE = {
    "a secret": ({"ATTESTATION_SIGNING_KEY": f"{KEY},{'k' * 32}"}, 3, "ATTESTATION_SIGNING_KEY"),
    "the store": ({"database_url": "sqlite:////proc/no/such.db"}, 4, "make it, or correct HOLDFAST_DATABASE_URL"),
}


@pytest.mark.parametrize(("settings", "code", "names"), UNABLE.values(), ids=UNABLE)
def test_a_start_that_cannot_work_says_why_in_one_line(serve, settings, code, names):
    server = serve(wait=False, **settings)
    assert server.process.wait(PATIENCE_S) == code
    lines = server.log.read_text().strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("holdfast: ") and names in lines[0]
    assert not any(value in lines[0] for value in (KEY, "kkkk"))


def test_no_worker_outlives_its_supervisor(serve):
    server = serve(workers="2")
    workers = psutil.Process(server.process.pid).children(recursive=True)
    assert len(workers) == 2
    server.process.kill()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
    assert [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE] == []
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(server.url + "/healthz", timeout=PATIENCE_S)


def test_workers_that_cannot_start_end_the_service(serve, tmp_path):
    data = tmp_path / "kept"
    server = serve(data, workers="2")
    workers = psutil.Process(server.process.pid).children(recursive=True)
    with closing(sqlite3.connect(data / "holdfast.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    for worker in workers:
        worker.kill()
    assert server.process.wait(3 * PATIENCE_S) == 1


@pytest.mark.parametrize("workers", WORKERS)
def test_nothing_is_lost_when_the_end_comes_under_load(serve, workers):
    """During a shutdown, a request gets a response, or its connection is closed before the request is read."""
    server = serve(workers=workers)
    lost = []
    answered = [0]

    def ask():
        with httpx2.Client(base_url=server.url, timeout=PATIENCE_S) as client:
            while True:
                try:
                    response = client.get("/api/sessions/check?handle=ann")
                except httpx2.ConnectError:
                    return
                except httpx2.RemoteProtocolError as error:
                    if "without sending" not in str(error):
                        lost.append(str(error))
                    return
                except (httpx2.ReadError, httpx2.WriteError):
                    return  # reset before a byte was read, so it may be sent again
                assert response.status_code == 200
                answered[0] += 1

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert becomes_true(lambda: answered[0] >= 60)
    assert server.stop() == 0
    for thread in threads:
        thread.join(PATIENCE_S)
    assert lost == []


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD")
def test_names_that_no_server_answers_keep_no_other_name_waiting(tmp_path):
    waiting = tmp_path / "waiting"
    started = silent_names(tmp_path, waiting)
    with (
        ThreadPoolExecutor(4) as people,
        json_server(chain_answer) as bundler,
        running_server(
            tmp_path / "data", tmp_path / "log", prefix=started,
            mail_url="smtp://mail.silent", bundler_url=bundler.replace("127.0.0.1", "localhost"),
        ) as server,
        server.client() as client,
    ):  # fmt: skip
        for number in range(4):
            mail = {"identifier": f"{number}@a.de", "channel": "email"}
            people.submit(client.post, "/api/verify/send", json=mail, headers={"X-Forwarded-For": f"10.0.{number}.1"})
        assert becomes_true(lambda: waiting.exists() and waiting.stat().st_size >= 2)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}
        assert client.post("/api/bundler", json=asked).status_code == 200
