"""The service under parallel requests to several processes, kill -9, a full disk, and hostile sockets."""

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
from collections import Counter

import httpx2
import psutil
import pytest
from tests.support import forked
from tests.support.serving import DID, PATIENCE_S, becomes_true, environment_of, wait_until_ready
from tests.support.small_disk import fill
from tests.support.soak import amount, cases

KILLS = amount(2, 20, "HOLDFAST_TEST_KILLS")


async def many(url, requests):
    """Send all POST requests at once, each on a separate connection, so that several processes receive them."""
    limits = httpx2.Limits(max_connections=64, max_keepalive_connections=0)
    async with httpx2.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        answers = await asyncio.gather(
            *(client.post(path, json=body, headers={"X-Forwarded-For": ip}) for path, body, ip in requests)
        )
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("workers", cases({"one": "1", "three": "3"}, "three"))
async def test_limits_hold_over_processes(serve, workers):
    url = serve(workers=workers).url
    mail = {"identifier": "one@example.com", "channel": "email"}
    did = {"channel": "handle", "did": DID, "txHash": "0x1"}
    for asked, statuses in (
        ([("/api/sessions", {"handle": f"n{n}", "did": DID}, "192.0.2.1") for n in range(30)], {200: 3, 429: 27}),
        ([("/api/sessions", {"handle": "same", "did": DID}, f"10.0.0.{n}") for n in range(30)], {200: 1, 409: 29}),
        ([("/api/verify/send", {**mail, "identifier": f"a{n}@example.com"}, "192.0.2.2") for n in range(20)], {200: 3, 429: 17}),
        ([("/api/verify/send", mail, f"10.1.0.{n}") for n in range(20)], {200: 5, 429: 15}),
        ([("/api/dids", {**did, "identifier": f"c{n}", "credentialId": "one"}, f"10.2.0.{n}") for n in range(20)], {200: 1, 409: 19}),
    ):  # fmt: skip
        assert Counter(await many(url, asked)) == statuses


async def load(server, acknowledged, stop, prefix):
    async with httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_S, verify=False) as client:
        number = 0
        while not stop.is_set():
            number += 1
            name = f"{prefix}x{number}"
            body = {"identifier": name, "channel": "handle", "did": DID, "credentialId": name, "txHash": "0x1"}
            ip = f"10.{random.randrange(200)}.{random.randrange(3)}.1"
            with contextlib.suppress(httpx2.TransportError):
                if (await client.post("/api/dids", json=body, headers={"X-Forwarded-For": ip})).status_code == 200:
                    acknowledged.add(name)


async def test_acknowledged_registrations_survive_kill_9(serve, tmp_path):
    data = tmp_path / "kept"
    acknowledged = set()
    for kill in range(KILLS):
        server = serve(data, workers="2", MAX_REGISTRATIONS_PER_IP="12")
        stop = asyncio.Event()
        clients = [asyncio.create_task(load(server, acknowledged, stop, f"k{kill}c{n}")) for n in range(8)]
        before = len(acknowledged)
        while len(acknowledged) < before + 20:
            await asyncio.sleep(0.01)
        await asyncio.sleep(random.uniform(0, 0.3))
        server.kill_all()
        stop.set()
        await asyncio.gather(*clients)
    server = serve(data)
    with server.client() as client:
        assert acknowledged
        for name in acknowledged:
            assert client.get(f"/api/dids/lookup?credentialId={name}").json()["found"] is True
    server.stop()
    connection = sqlite3.connect(data / "holdfast.db")
    worst = connection.execute("SELECT max(n) FROM (SELECT count(*) AS n FROM identifiers GROUP BY ip)").fetchone()[0]
    counted = connection.execute(
        "SELECT count(*) FROM ip_counters c WHERE registrations <> (SELECT count(*) FROM identifiers i WHERE i.ip = c.ip)"
    ).fetchone()[0]
    integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    assert worst <= 12 and counted == 0 and integrity == "ok"


def test_a_full_disk_is_503_and_recovers(serve, small_disk, tmp_path):
    """Where no small disk can be mounted, the size of files is limited, which leaves some parts untested."""
    folder = small_disk or tmp_path
    prefix = () if small_disk else ("prlimit", "--fsize=600000:")
    server = serve(folder / "data", prefix=prefix, MAX_REGISTRATIONS_PER_IP="1000000")
    with server.client() as client:
        assert server.session(client, "first", "192.0.2.1").status_code == 200
        assert client.get("/readyz").status_code == 200  # its row exists before the disk is full
        filler = fill(folder) if small_disk else None
        answers, refused = {}, 0
        while refused < 5 and len(answers) < 3000:
            name = f"full{len(answers)}"
            answers[name] = server.session(client, name, "192.0.2.1")
            refused = 0 if answers[name].status_code == 200 else refused + 1
        assert refused == 5
        for answer in answers.values():
            if answer.status_code != 200:
                assert (answer.status_code, answer.json()) == (503, {"error": "database_unavailable"})
                assert answer.headers["retry-after"] == "1"
        paths = ("/healthz", "/api/status", "/api/sessions/check?handle=first", "/", "/enclave.wasm")
        assert [client.get(path).status_code for path in paths] == [200] * 5
        assert becomes_true(lambda: client.get("/readyz").status_code == 503)
        if filler:
            _check_names_the_full_disk(folder / "data")
            filler.unlink()
        else:
            subprocess.run(["prlimit", "--fsize=unlimited:", "--pid", *pids(server)], check=True)
        assert becomes_true(lambda: client.get("/readyz").status_code == 200)
        assert becomes_true(lambda: server.session(client, "afterwards", "192.0.2.1").status_code == 200)
        if small_disk:
            fill(folder)
    assert server.stop() == 0
    assert not small_disk or '"why": "database or disk is full"' in server.log.read_text()
    with serve(folder / "data").client() as client:
        kept = ["first", "afterwards", *(name for name, answer in answers.items() if answer.status_code == 200)]
        assert {client.get(f"/api/sessions/check?handle={name}").json()["reason"] for name in kept} == {"taken"}


def _check_names_the_full_disk(data):
    """`holdfast check` prints its table, with the database among what must be fixed, while the service runs."""
    code, out, _ = forked.run(["check", "--json"], environment_of(data), b"", PATIENCE_S)
    states = {finding["subject"]: finding["state"] for finding in json.loads(out)}
    assert (code, states["database"], states["disk"]) == (1, "error", "error"), out
    assert states["enclave"] == "ok", "the other findings are printed"


def pids(server):
    return [str(child.pid) for child in psutil.Process(server.process.pid).children(recursive=True)][:1]


def raw(server, data, *, wait=PATIENCE_S, parts=(b"", -1)):
    """Send raw bytes; return what arrives until the server closes, is silent for `wait` s, or has sent `parts`."""
    received = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.settimeout(wait)
        # The server may refuse the request and close the connection before it has read everything.
        with contextlib.suppress(TimeoutError, ConnectionError):
            connection.sendall(data)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while received.count(parts[0]) != parts[1] and (chunk := connection.recv(65536)):
                received += chunk
    return received


GOOD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
HOSTILE = {
    "no http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "empty line": b"\r\n\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n", "wrong version": b"GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
    "huge header": GOOD + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "many headers": GOOD + b"".join(b"X-%d: y\r\n" % n for n in range(5000)) + b"\r\n",
    "bad header": GOOD + b"no colon here\r\n\r\n",
    "negative length": b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "huge length": b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "null in path": b"GET /api/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "raw bytes in path": b"GET /api/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "websocket": GOOD + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "long path": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "half a body": b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
}  # fmt: skip


@pytest.mark.parametrize("name", cases({"granian": "granian", "uvicorn": "uvicorn"}, "granian"))
def test_hostile_bytes_break_nothing(serve, name):
    server = serve(server=name)
    for what, data in HOSTILE.items():
        answer = raw(server, data, wait=0.7)
        status = answer.split(b" ", 2)[1:2]
        assert not status or not status[0].startswith(b"5") or status[0] == b"505", (what, answer[:200])
        assert b"Traceback" not in answer
        assert httpx2.get(server.url + "/healthz", timeout=PATIENCE_S).status_code == 200, what
    with server.client() as client:
        assert client.get("/api/sessions/status").json()["total_registrations"] == 0
    assert "request failed" not in server.log.read_text()


def test_pipelined_requests_are_answered_in_order_and_a_declared_body_over_the_limit_is_refused_unread(serve):
    server = serve()
    request = b"GET /api/sessions/check?handle=%s HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = raw(server, b"".join(request % handle for handle in (b"ann", b"admin", b"bob")), parts=(b"}", 3))
    assert [part[:1] for part in answer.split(b'"available":')[1:]] == [b"t", b"f", b"t"]
    answer = raw(server, b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413") and b'{"error":"body_too_large"}' in answer, "no 408 after a wait"


def test_a_killed_worker_is_replaced(serve):
    server = serve(workers="2")

    def workers():
        children = psutil.Process(server.process.pid).children()
        with contextlib.suppress(psutil.NoSuchProcess):
            return {child.pid for child in children if "resource_tracker" not in " ".join(child.cmdline())}
        return set()

    assert becomes_true(lambda: len(workers()) == 2)
    before = workers()
    os.kill(min(before), signal.SIGKILL)
    assert becomes_true(lambda: min(before) not in workers() and len(workers()) == 2)
    wait_until_ready(server)
    with server.client() as client:
        assert server.session(client, "ann", "192.0.2.1").status_code == 200
    assert "Unexpected exit from worker" in server.log.read_text()
