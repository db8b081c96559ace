"""The service with PostgreSQL: several processes, an outage and recovery from it."""

import pytest
from tests.support.serving import DID, PATIENCE_S, becomes_true, free_port
from tests.support.soak import cases


@pytest.mark.parametrize("workers", cases({"one": "1", "three": "3"}, "three"))
def test_it_serves_from_any_process_with_limits_in_common(serve, fresh_postgres_url, workers):
    key = {"ATTESTATION_SIGNING_KEY": "nodes of one service have the same keys"}
    nodes = [serve(database_url=fresh_postgres_url, workers=workers, **key) for _ in range(2)]
    statuses = []
    for n in range(8):
        with nodes[n % 2].client() as client:  # a new connection each time, which any process may accept
            statuses.append(nodes[n % 2].session(client, f"name{n}", "192.0.2.1").status_code)
            assert client.get("/readyz").status_code == 200
    assert statuses == [200] * 3 + [429] * 5
    with nodes[1].client() as client:
        assert client.get("/api/sessions/check?handle=name0").json()["available"] is False
    assert [node.stop() for node in nodes] == [0, 0]


def test_an_outage_answers_503_without_the_databases_password_and_ends_by_itself(serve, own_postgres):
    url = own_postgres.new_database().replace("@", ":hunter2@")
    server = serve(database_url=url, access_log="on", admin_port=str(free_port()))
    with server.client() as client:
        assert server.session(client, "before", "192.0.2.1").status_code == 200
        own_postgres.kill()
        for answer in (server.session(client, "during", "192.0.2.2"), client.get("/api/sessions/check?handle=x")):
            assert (answer.status_code, answer.json()["error"]) == (503, "database_unavailable")
            assert int(answer.headers["retry-after"]) >= 1 and "hunter2" not in answer.text
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get("/api/status").json()["database"] == "unavailable"
        own_postgres.start()
        assert becomes_true(lambda: client.get("/readyz").status_code == 200)
        assert client.get("/api/sessions/check?handle=before").json()["available"] is False
        assert server.session(client, "after", "192.0.2.3").status_code == 200
    assert server.stop() == 0
    assert "store unavailable" in server.log.read_text() and "hunter2" not in server.log.read_text()
    (own_postgres.data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    own_postgres.stop()
    own_postgres.start()
    late = serve(wait=False, database_url=url, database_wait="1")
    assert late.process.wait(PATIENCE_S) == 4
    assert (
        "the database cannot be opened: no connection" in late.log.read_text() and "hunter2" not in late.log.read_text()
    )


def test_a_start_does_not_wait_for_ever_nor_for_what_time_does_not_mend(serve, postgres):
    server = serve(wait=False, database_url=postgres.url("no_such_database"))
    assert server.process.wait(PATIENCE_S / 2) == 4
    assert "the server has no such database" in server.log.read_text()
    server = serve(wait=False, database_url="postgresql://user:hunter2@127.0.0.1:9/x", database_wait="1")
    assert server.process.wait(PATIENCE_S) == 4
    text = server.log.read_text()
    assert "the database cannot be opened" in text and "hunter2" not in text


async def test_a_zero_byte_anywhere_is_a_plain_refusal(make_api, postgres_url, patient_stores):
    """PostgreSQL cannot store a zero byte in text, so the service must refuse it or find nothing, but never fail."""
    api = make_api(database_url=postgres_url)
    registration = {
        "credentialId": "AQIDBAUG", "txHash": "0x" + "11" * 32, "smartAccount": "0x" + "22" * 20, "did": DID,
    }  # fmt: skip
    for name, value in registration.items():
        answer = await api.register(**{**registration, "identifier": "bob", name: value + "\0"})
        # A `smartAccount` that is not an address is treated as absent.
        assert answer.status_code in ({200} if name == "smartAccount" else {400, 409}), (name, answer.text)
    for handle, did in (("ann\0", DID), ("ann", DID + "\0")):
        assert (await api.session(handle, did)).status_code == 400
    for path in ("dids/lookup?credentialId=A%00", "sessions/check?handle=a%00", "aliases/check?alias=a%00"):
        assert (await api.http.get(f"/api/{path}")).status_code < 500, path
    assert (await api.get("/readyz")).status_code == 200
