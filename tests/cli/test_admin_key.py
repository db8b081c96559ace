"""`holdfast admin-key`: a key with which an operator uses the admin port of a running service, until it is revoked."""

import socket
import struct

import httpx2
from tests.support.serving import PATIENCE_S, becomes_true

from holdfast.cli.exits import Exit
from holdfast.world.processes import free_port


def test_a_key_opens_the_admin_port_until_it_is_revoked(serve, holdfast):
    port = free_port()
    running = serve(admin_port=str(port), workers="2")

    def call(*words, code=Exit.OK):
        answer = holdfast("admin-key", *words, data=running.data)
        assert answer.code == code, answer
        return answer

    call("new", "Eva!", code=Exit.USAGE)
    call("new", "eva", "--scope", "all", code=Exit.USAGE)
    call("new", "eva", "--operator", "key:tom", code=Exit.USAGE)
    key = call("new", "eva", "--scope", "read", "--scope", "write", "--operator", "root", "--json").value["key"]
    call("new", "eva", code=Exit.USAGE)
    told = {"authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client, running.client() as public:
        assert client.get("/admin/api/acts").json() == {"error": "admin_key_refused"}
        assert public.get("/admin/api/acts", headers=told).status_code == 404
        assert public.get("/nowhere/secret-name").status_code == 404
        banned = client.post("/admin/api/bans", headers=told, json={"kind": "name", "value": "carl"})
        assert banned.json() == {"subject": "name handle carl", "banned": True}
        assert running.session(public, "carl", "192.0.2.1").status_code == 409
        (ban, made) = client.get("/admin/api/acts", headers=told).json()["rows"]
        assert (ban["operator"], made["operator"], made["key"]) == ("key:eva", "root", "eva read write")
        assert client.post("/admin/api/bans", headers=told, content=b"x" * 200_000).status_code == 413
        call("revoke", "eva")
        call("revoke", "eva", code=Exit.NOT_FOUND)
        assert client.get("/admin/api/acts", headers=told).status_code == 401
    (row,) = call("list", "--json").value
    assert (row["name"], row["scopes"], bool(row["revoked_at"])) == ("eva", "read write", True)
    for files in running.data.rglob("*"):
        assert not files.is_file() or key.rpartition(".")[2].encode() not in files.read_bytes(), "only a hash is stored"
    head = b"POST /admin/api/bans HTTP/1.1\r\nHost: localhost\r\n"
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as chunked:
        chunked.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        assert b" 400 " in chunked.recv(200)
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as broken:
        broken.sendall(head + b"Content-Length: 9\r\n\r\n")
        broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def metrics():
        return httpx2.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S).text

    counted = ('method="POST",route="/api/sessions"', 'method="other",route="unknown"')
    assert becomes_true(lambda: all(labels in metrics() for labels in counted)), "of each process, within a second"
    assert "secret-name" not in metrics()
    assert "Traceback" not in running.log.read_text() and "127.0.0.1'" not in running.log.read_text()
