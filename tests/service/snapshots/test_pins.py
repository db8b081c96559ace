"""/pins follows the IPFS Pinning Service API's OpenAPI file 1.0.0: operations, bounds and Failure objects."""

import json
import re
from urllib.parse import quote

import pytest
from tests.support.snapshot_vaults import failure, registered

from holdfast.content.cids import cid_of
from holdfast.service.snapshots.delegate import delegate_of

ELSEWHERE = cid_of("dag-cbor", b"\xa0")
PEER = re.compile(r"(/[^/]+)+/p2p/12D3Koo[A-Za-z0-9]{45}")


@pytest.mark.parametrize(("public_url", "address"), [
    ("https://vault.example", "/dns/vault.example/tcp/443/tls/http/p2p/"),
    ("http://vault.example", "/dns/vault.example/tcp/80/http/p2p/"),
    ("http://127.0.0.1:8787", "/ip4/127.0.0.1/tcp/8787/http/p2p/"),
    ("https://[2001:db8::1]:8443", "/ip6/2001:db8::1/tcp/8443/tls/http/p2p/"),
])  # fmt: skip
def test_a_delegate_is_the_services_public_address(public_url, address):
    assert delegate_of(public_url, b"\1" * 32).startswith(address + "12D3Koo")


async def test_every_operation(vault):
    root = await vault.keep()
    made = await vault.pin(root, name="laptop", meta={"app": "x&y"}, origins=["/ip4/203.0.113.1/tcp/4001/p2p/QmSource"])
    assert made.status_code == 202
    status = made.json()
    assert set(status) == {"requestid", "status", "created", "pin", "delegates", "info"}
    assert status["status"] == "pinned" and status["created"] == "2027-01-15T08:00:00.000000Z"
    assert status["pin"] == {
        "cid": root, "name": "laptop", "meta": {"app": "x&y"}, "origins": ["/ip4/203.0.113.1/tcp/4001/p2p/QmSource"]
    }  # fmt: skip
    assert len(status["delegates"]) == 1 and PEER.fullmatch(status["delegates"][0])
    assert int(status["info"]["dag_size"]) > 1000
    path = f"/pins/{status['requestid']}"
    assert (await vault.api.get(path, headers=vault.token())).json() == status
    listed = await vault.api.get("/pins", headers=vault.token())
    assert listed.json() == {"count": 1, "results": [status]}, "the import's pin gave way to the one that was asked for"
    again = (await vault.pin(root)).json()
    assert again["requestid"] != status["requestid"] and again["created"] > status["created"]
    await vault.api.http.delete(f"/pins/{again['requestid']}", headers=vault.token())
    replaced = await vault.api.post(path, headers=vault.token(), cid=root, name="desk")
    assert replaced.status_code == 202 and replaced.json()["requestid"] != status["requestid"]
    assert (await vault.api.http.get(f"/ipfs/{root}?format=raw")).status_code == 200, "its blocks stay throughout"
    assert failure(await vault.api.get(path, headers=vault.token())) == (404, "NOT_FOUND")
    gone = await vault.api.http.delete(f"/pins/{replaced.json()['requestid']}", headers=vault.token())
    assert gone.status_code == 202 and gone.content == b""
    assert (await vault.api.get("/pins", headers=vault.token())).json() == {"count": 0, "results": []}
    assert (await vault.api.http.get(f"/ipfs/{root}?format=raw")).status_code == 404


async def test_a_pin_waits_for_its_snapshot_and_fails_after_a_day(vault):
    blocks, never = vault.blocks(), vault.blocks()
    waiting, late = (await vault.pin(blocks[0].cid)).json(), (await vault.pin(never[0].cid)).json()
    assert waiting["status"] == "queued" and "/api/v0/dag/import" in waiting["info"]["status_details"]
    assert await vault.pins() == [] and len(await vault.pins(status="queued")) == 2
    await vault.keep(blocks)
    (pinned,) = await vault.pins()
    assert (pinned["requestid"], pinned["created"]) == (waiting["requestid"], waiting["created"])
    assert pinned["status"] == "pinned" and "status_details" not in pinned["info"]
    vault.api.clock.now += 24 * 3600 + 1
    await vault.api.service.snapshots.collect()
    (failed,) = await vault.pins(status="failed")
    assert failed["requestid"] == late["requestid"] and "not uploaded" in failed["info"]["status_details"]
    again = await vault.api.post(f"/pins/{late['requestid']}", headers=vault.token(), cid=never[0].cid)
    assert again.json()["status"] == "queued"


async def test_pins_of_others_count_as_none(vault):
    root = await vault.keep()
    pin = (await vault.pin(root)).json()
    other = await registered(vault.api, "bob")
    path = f"/pins/{pin['requestid']}"
    assert await other.pins() == []
    assert failure(await vault.api.get(path, headers=other.token())) == (404, "NOT_FOUND")
    assert failure(await vault.api.http.delete(path, headers=other.token())) == (404, "NOT_FOUND")
    taken = await vault.api.post(path, headers=other.token(), cid=other.blocks()[0].cid)
    assert failure(taken) == (404, "NOT_FOUND")
    assert failure(await other.pin(root)) == (403, "ANOTHER_DID")
    assert len(await vault.pins()) == 1


MANY = {str(number): "" for number in range(1001)}


def pin_of(**fields):
    return json.dumps({"cid": ELSEWHERE, **fields}).encode()


async def test_a_pin_out_of_bounds_is_refused_and_the_bounds_themselves_are_taken(vault):
    for body in (
        b"", b"[]", b"{", b'"x"', b"\xff", b"{}", b'{"cid":5}', b'{"cid":""}', b"[" * 60000,
        pin_of(cid="Qm" + "a" * 44), pin_of(cid=ELSEWHERE.upper()), pin_of(cid=cid_of("raw", b"x")), pin_of(cid="bafkqaaa"),
        pin_of(name="n" * 256), pin_of(name=5), pin_of(origins=["/ip4/1.2.3.4/tcp/1"]), pin_of(origins="x"),
        pin_of(origins=["/ip4/1.2.3.4/p2p/Q", "/ip4/1.2.3.4/p2p/Q"]),
        pin_of(origins=[f"/ip4/1.2.3.{n}/p2p/Q" for n in range(21)]), pin_of(meta=[]), pin_of(meta={"a": 1}),
        pin_of(meta=MANY), pin_of(meta={"a": "x" * 5_000}),
    ):  # fmt: skip
        answer = await vault.api.http.post("/pins", content=body, headers=vault.token())
        assert failure(answer) == (400, "BAD_REQUEST")
    answer = await vault.pin(
        ELSEWHERE, name="n" * 255, meta=dict(list(MANY.items())[:64]),
        origins=[f"/ip4/1.2.3.{n}/tcp/1/p2p/Q{n}" for n in range(20)],
    )  # fmt: skip
    assert answer.status_code == 202
    assert answer.json()["pin"]["name"] == "n" * 255 and len(answer.json()["pin"]["meta"]) == 64


async def test_other_methods_large_bodies_and_a_list_out_of_bounds_are_refused(vault):
    for path, method, allowed in (
        ("/pins", "DELETE", "GET, HEAD, POST, OPTIONS"), ("/pins/x", "PUT", "GET, HEAD, POST, DELETE, OPTIONS"),
        ("/api/v0/dag/import", "GET", "POST, OPTIONS"),
    ):  # fmt: skip
        answer = await vault.api.http.request(method, path, headers=vault.token())
        assert failure(answer) == (405, "METHOD_NOT_ALLOWED") and answer.headers["allow"] == allowed
    large = await vault.api.http.post("/pins", content=b"x" * 70_000, headers=vault.token())
    assert failure(large) == (413, "TOO_LARGE") and large.headers["connection"] == "close"
    asked = await vault.api.http.options("/pins", headers={"Origin": "https://app.example"})
    assert asked.status_code == 204 and "Authorization" in asked.headers["access-control-allow-headers"]
    doubled = await vault.api.http.get("http://holdfast.test//pins?limit=1", headers=vault.token())
    assert doubled.status_code == 200, "an endpoint written with a slash at its end"
    for query in (
        "limit=0", "limit=1001", "limit=x", "limit=-1", "status=", "status=lost", "status=pinned,pinned", "match=like",
        "before=yesterday", "after=2027-13-01T00:00:00Z", "before=2027-01-01T00:00:00", "meta=x", "meta=[]", 'meta={"a":1}',
        "cid=", "cid=x", f"cid={ELSEWHERE},{ELSEWHERE}", "name=" + "n" * 256, "meta[a]=1" + "&a=1" * 1001,
        "cid=" + ",".join(cid_of("raw", bytes([n])) for n in range(11)),
    ):  # fmt: skip
        answer = await vault.api.http.get("/pins?" + query, headers=vault.token())
        assert failure(answer) == (400, "BAD_REQUEST")


async def test_a_list_is_the_newest_and_counts_all(vault):
    cids = [cid_of("dag-cbor", bytes([0xA0, n])) for n in range(12)]
    made = [(await vault.pin(cid, name=f"N{n}")).json() for n, cid in enumerate(cids)]
    assert len({status["created"] for status in made}) == 12, "though no time passes, each has its own moment"
    plain = (await vault.api.get("/pins?status=queued", headers=vault.token())).json()
    assert plain["count"] == 12
    assert [status["pin"]["name"] for status in plain["results"]] == [f"N{n}" for n in range(11, 1, -1)]
    seen, before = [], None
    while True:
        page = await vault.pins(status="queued", limit="5", **({"before": before} if before else {}))
        if not page:
            break
        seen += [status["requestid"] for status in page]
        before = page[-1]["created"]
    assert seen == [status["requestid"] for status in reversed(made)], "paging skips and repeats nothing"
    after = await vault.pins(status="queued", after=made[9]["created"])
    assert [status["pin"]["name"] for status in after] == ["N11", "N10"]
    finer = made[9]["created"].replace("Z", "5+00:00")
    assert len(await vault.pins(status="queued", after=finer)) == 2
    assert len(await vault.pins(status="queued", before=finer)) == 10


@pytest.mark.parametrize(("query", "found"), [
    ("name=Laptop", ["Laptop"]), ("name=laptop", []), ("name=laptop&match=iexact", ["Laptop"]),
    ("name=top&match=partial", ["Laptop", "Desktop"]), ("name=TOP&match=partial", []),
    ("name=TOP&match=ipartial", ["Laptop", "Desktop"]), ("name=%C3%84&match=iexact", ["ä"]),
    ("meta=" + quote('{"app":"x&y"}'), ["Laptop"]), ("meta[app]=x%26y", ["Laptop"]),
    ("meta=" + quote('{"app":"x&y","z":"1"}'), []), ("meta=" + quote("{}"), ["Laptop", "Desktop", "ä"]),
    ("status=queued,failed", ["Laptop", "Desktop", "ä"]), ("status=failed&status=queued", ["Laptop", "Desktop", "ä"]),
    ("status=pinned", []), (f"cid={ELSEWHERE}&status=queued", ["Laptop"]),
    ("cid=QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", []), ("unknown=1", ["Laptop", "Desktop", "ä"]),
])  # fmt: skip
async def test_filters(vault, query, found):
    await vault.pin(cid_of("dag-cbor", b"3"), name="ä")
    await vault.pin(cid_of("dag-cbor", b"2"), name="Desktop")
    await vault.pin(ELSEWHERE, name="Laptop", meta={"app": "x&y", "more": "1"})
    if "status" not in query:
        query += "&status=queued"
    answer = (await vault.api.http.get("/pins?" + query, headers=vault.token())).json()
    assert ([status["pin"]["name"] for status in answer["results"]], answer["count"]) == (found, len(found))
