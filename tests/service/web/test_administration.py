"""Operators' tasks over HTTP: each with its scope, the operator in the audit, and nothing for anyone else."""

import asyncio
import csv
import io
import json
from unittest.mock import AsyncMock

from tests.support.api import DID

from holdfast.rules.limits import ADMIN_KEY_TRIES_PER_ADDRESS_HOUR
from holdfast.service.operations.operator_tasks import OperatorTasks
from holdfast.service.store.administration import By
from holdfast.wire.admin_endpoints import ADMIN_ENDPOINTS, API, Scope


def test_every_endpoint_is_a_task_and_every_task_an_endpoint():
    tasks = {
        name for name in vars(OperatorTasks) if not name.startswith("_") and callable(getattr(OperatorTasks, name))
    }
    assert {endpoint.name for endpoint in ADMIN_ENDPOINTS} == tasks
    assert len({endpoint.key for endpoint in ADMIN_ENDPOINTS}) == len(ADMIN_ENDPOINTS)
    changes = [endpoint.method == "POST" for endpoint in ADMIN_ENDPOINTS]
    assert changes == [endpoint.scope is not Scope.READ for endpoint in ADMIN_ENDPOINTS]


async def test_a_key_does_what_its_scopes_say(port):
    without = {scope: await port.key(f"not-{scope}", *(set(Scope) - {scope})) for scope in Scope}
    before = await port.get("acts")
    for endpoint in ADMIN_ENDPOINTS:
        for key, status, error in (
            ("", 401, {"error": "admin_key_refused"}),
            (without[endpoint.scope], 403, {"error": "admin_scope_missing"}), (port.held["eva"], 400, None),
        ):  # fmt: skip
            query = "unknown=1" if endpoint.method == "GET" else ""
            found = await port.ask(endpoint.method, API + endpoint.path, key, {"unknown": 1}, query)
            assert (found[0], error or found[1]) == (status, found[1]), endpoint
    assert await port.get("acts") == before


async def test_lists_go_on_after_a_page_and_what_is_not_there_is_404(port):
    """tests/service/web/test_admin_openapi.py has an operator's day, with every task."""
    for name in ("ann", "anne", "bob"):
        assert (await port.api.session(name, ip="192.0.2.7")).status_code == 200
    page = await port.get("identifiers", "limit=2")
    assert [row["identifier"] for row in page["rows"]] == ["bob", "anne"]
    rest = await port.get("identifiers", f"after={page['after']}")
    assert ([row["identifier"] for row in rest["rows"]], rest["after"]) == (["ann"], None)
    found = await port.get("identifiers", "prefix=AN&state=session&channel=handle&address=192.0.2.7")
    assert [row["identifier"] for row in found["rows"]] == ["ann", "anne"]
    assert await port.get("identifier", "identifier=none") == (404, "nothing is known of this identifier")
    assert (await port.post("bans", kind="name", value="carl", reason="spam"))["banned"] is True
    assert (await port.api.session("carl")).status_code == 409
    assert await port.post("identifiers/release", identifier="bob") == {"released": True}
    assert await port.post("identifiers/release", identifier="bob") == (404, "no one holds this identifier")
    assert await port.post("credentials/revoke", credentialId="none") == (404, "no such credential")
    made = await port.post("invitations", uses=3, days=2)
    again = await port.post("invitations/reissue", code=made["code"])
    assert (again["uses"], again["days"]) == (3, 14)
    assert await port.post("invitations/reissue", code=made["code"]) == (404, "nothing is left of this invitation")
    rows = (await port.get("invitations"))["rows"]
    assert {row["number"]: row["left"] for row in rows} == {made["number"]: 0, again["number"]: 3}
    assert await port.post("invitations", uses=1001) == (400, "Expected `int` <= 1000 - at `$.uses`")
    acts = (await port.get("acts"))["rows"]
    assert [act["operator"] for act in acts] == ["key:eva"] * (len(acts) - 1) + ["cli:root"]
    first = await port.get("acts", "limit=2")
    rest = await port.get("acts", f"limit=100&after={first['after']}")
    assert first["rows"] + rest["rows"] == acts


async def test_a_person_is_copied_and_erased(port):
    assert (await port.api.session("ann")).status_code == 200
    copy = await port.get("person", "person=ann")
    assert (copy["did"], copy["identifiers"][0]["key"]) == (DID, "ann")
    assert (await port.post("person/erase", person=DID))["identifiers"] == 1
    assert await port.post("person/erase", person="ann") == (404, "no one holds this identifier")
    for did, refusal in (
        (f"{DID}0", (404, "nothing is stored about this DID")),
        ("did:new:", (400, "this is not a DID")),
    ):
        assert await port.get("person", f"person={did}") == await port.post("person/erase", person=did) == refusal
    acts = (await port.get("acts"))["rows"]
    assert [act["action"] for act in acts if act["operator"] == "key:eva"] == ["released", "erased"]
    assert DID not in json.dumps(acts) and '"ann"' not in json.dumps(acts), "what is gone names no person"
    assert (await port.get("identifiers"))["rows"] == []


async def test_no_cell_of_csv_is_a_formula(port):
    for kind, value, reason in (("name", "a", "=1+1"), ("name", "b", " @x"), ("did", "did:a:1", 'x,"y"\n-z')):
        await port.post("bans", kind=kind, value=value, reason=reason)
    status, text, headers = await port.ask("GET", f"{API}bans", port.held["eva"], query="format=csv&limit=2")
    assert (status, headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert [row["reason"] for row in csv.DictReader(io.StringIO(text))] == ['x,"y"\n-z', "'=1+1"]
    rest = await port.ask("GET", f"{API}bans", port.held["eva"], query=f"format=csv&after={headers['x-after']}")
    assert [row["reason"] for row in csv.DictReader(io.StringIO(rest[1]))] == ["' @x"]
    assert "x-after" not in rest[2]
    assert await port.get("bans", "format=xml") == (400, "format is json or csv")


async def test_wrong_keys_are_tried_no_oftener_than_the_limit_at_once(port):
    right = port.held["eva"]
    wrong = [f"holdfast.eva.{n}" for n in range(ADMIN_KEY_TRIES_PER_ADDRESS_HOUR)]
    tried = await asyncio.gather(*(port.ask("GET", f"{API}bans", key) for key in [*wrong, "", "x", "y"]))
    assert sorted(status for status, _, _ in tried) == [401] * len(wrong) + [429] * 3
    status, found, headers = await port.ask("GET", f"{API}bans", "x")
    assert (status, found) == (429, {"error": "rate_limited"}) and int(headers["retry-after"]) > 3500
    assert (await port.ask("GET", f"{API}bans", "x", x_forwarded_for="192.0.2.6"))[0] == 429, "no proxy is trusted"
    trusted = [{"peer": "127.0.0.1", "x_forwarded_for": f"192.0.2.{n}"} for n in (8, 9)]
    for one in [trusted[0]] * len(wrong) + [trusted[1]]:
        assert (await port.ask("GET", f"{API}bans", "x", **one))[0] == 401
    assert (await port.ask("GET", f"{API}bans", "x", **trusted[0]))[0] == 429
    many = [await port.ask("GET", f"{API}bans", right) for _ in range(2 * len(wrong))]
    assert {status for status, _, _ in many} == {200}, "a right key is never refused for wrong ones"
    port.api.clock.now += 3601
    assert (await port.ask("GET", f"{API}bans", "x"))[0] == 401


async def test_a_revoked_key_is_refused_also_by_a_task_under_way(port):
    keys, key = port.admin.keys, await port.key("tom")
    admitted = await keys.admit(f"Bearer {key}", "x", Scope.WRITE)
    await keys.revoke("tom", By("cli:root", port.api.clock()))
    object.__setattr__(port.admin, "keys", AsyncMock(**{"admit.return_value": admitted}))
    told = await port.ask("POST", f"{API}bans", key, {"kind": "did", "value": "did:a:1"})
    assert told[:2] == (401, {"error": "admin_key_refused"})
    object.__setattr__(port.admin, "keys", keys)
    assert (await port.get("bans"))["rows"] == []


async def test_other_origins_and_rebound_names_are_refused_and_the_ports_own_are_served(port):
    body = {"kind": "did", "value": "did:a:1"}
    for headers, row in (
        ({"host": "attacker.example"}, "admin_host_unknown"), ({"host": ""}, "admin_host_unknown"),
        ({"host": "[::1"}, "admin_host_unknown"), ({"sec_fetch_site": "cross-site"}, "foreign_page"),
        ({"sec_fetch_site": "same-site"}, "foreign_page"), ({"origin": "http://127.0.0.1:8787"}, "foreign_page"),
        ({"origin": "null"}, "foreign_page"),
    ):  # fmt: skip
        status, found, told = await port.ask("POST", f"{API}bans", port.held["eva"], body, **headers)
        assert (status, found) == (403, {"error": row})
        assert not any(name.startswith("access-control") for name in told)
    assert (await port.ask("OPTIONS", f"{API}bans"))[0] == 405
    for host in ("admin.example:9464", "localhost", "[::1]:9464", "10.0.0.1"):
        own = {"host": host, "origin": f"http://{host}", "sec_fetch_site": "same-origin"}
        assert (await port.ask("GET", f"{API}bans", port.held["eva"], **own))[0] == 200


async def test_the_page_needs_no_key_and_runs_no_other_script(port):
    status, html, headers = await port.ask("GET", "/admin", sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert status == 200 and 'src="/admin/client/admin/main.js"' in html
    policy = headers["content-security-policy"]
    assert "script-src 'self';" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    for path in ("pages.css", "theme.css", "client/admin/main.js"):
        assert (await port.ask("GET", f"/admin/{path}"))[0] == 200, path
    assert (await port.ask("GET", "/admin/"))[2]["location"] == "/admin"
    assert [(await port.ask("GET", f"/admin/{path}"))[0] for path in ("", "none", "client/none.js")] == [308, 404, 404]
    assert (await port.ask("POST", "/admin"))[0] == 405
    assert (await port.ask("GET", "/admin", host="attacker.example"))[0] == 403


async def test_queries_and_bodies_that_cannot_be_read_get_a_clear_error(port):
    for path, query in (
        ("identifiers", "day=yesterday"), ("identifiers", "state=gone"), ("identifiers", "channel=fax"),
        ("identifiers", "limit=0"), ("identifiers", "limit=1001"), ("identifiers", "limit=x"),
        ("identifiers", "address=nowhere"), ("identifiers", "prefix=%00&channel=email"),
        ("identifiers", 'after=[1,"a","\\u0000"]'), ("identifiers", "after=[1]"), ("identifiers", "after=" + "[" * 4000),
        ("identifiers", "did=" + "x" * 9000), ("identifiers", "did=%ff"), ("identifiers", "a=1&" * 70),
        ("identifiers", "prefix=" + "x" * 5000), ("counts", "days=32"), ("acts", 'after=[1,"x"]'),
        ("acts", 'after=[1,"9999999999999999999"]'), ("invitations", 'after=[1,"\\u0000"]'), ("person", "person=%00"),
        ("bans", "after=%00"), ("identifier", ""), ("identifier", "identifier=" + "a" * 4000),
    ):  # fmt: skip
        status, error = await port.get(path, query)
        assert status == 400 and error, (path, query)
    did = b'{"kind":"did","value":"did:a:1'
    for body in (
        b"", b"[]", b"\xff", b"[" * 5000, b'{"kind":"did"}', b'{"kind":"did","value":1}', did + b'","more":1}',
        b'{"kind":"x","value":"y"}', b'{"kind":"network","value":"0.0.0.0/0"}', did + b'\\u0000"}',
        did + b'","reason":"' + b"x" * 1001 + b'"}',
    ):  # fmt: skip
        assert (await port.ask("POST", f"{API}bans", port.held["eva"], body))[0] == 400, body
    assert (await port.ask("POST", f"{API}bans", port.held["eva"], b"x" * 70_000))[0] == 413
    await port.store.close()
    assert await port.post("bans", kind="name", value="carl") == (503, "database_unavailable")
