"""Only valid IPNS records with a higher sequence are accepted, for names that a stored snapshot binds to the DID."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.signed_records import sign_record
from tests.support.snapshot_vaults import registered

from holdfast.content.bases import from_multibase, to_multibase
from holdfast.content.cids import cid_of
from holdfast.content.names import name_of
from holdfast.content.records import read_record
from holdfast.content.snapshots import Manifest, snapshot_blocks

RECORD = "application/vnd.ipfs.ipns-record"


def until(vault, days=3650):
    return datetime.fromtimestamp(vault.api.clock(), UTC) + timedelta(days=days)


def record(vault, root, sequence=1, *, days=3650, ttl_s=60, v1=False):
    return sign_record(vault.publishing, root, sequence, until(vault, days), ttl_s, v1=v1)


async def put(vault, data, *, under="", kind=RECORD):
    path = f"/routing/v1/ipns/{under or vault.name}"
    answer = await vault.api.http.put(path, content=data, headers={"Content-Type": kind, **vault.api.headers()})
    return answer.status_code, answer.text


@pytest.mark.parametrize("v1", [False, True])
async def test_a_record_goes_up_and_down(vault, v1):
    root = await vault.keep()
    data = record(vault, root, v1=v1, ttl_s=300)
    assert await put(vault, data) == (200, "")
    own = vault.name
    base32 = to_multibase("b", from_multibase(own))
    for path, headers in (
        (f"/ipns/{own}?format=ipns-record", {}), (f"/ipns/{own}", {"Accept": RECORD}),
        (f"/ipns/{base32}?format=ipns-record", {"Accept": "text/html"}), (f"/routing/v1/ipns/{own}", {"Accept": RECORD}),
        (f"/routing/v1/ipns/{base32}", {}),
    ):  # fmt: skip
        answer = await vault.api.http.get(path, headers=headers)
        assert answer.status_code == 200 and answer.content == data
        assert read_record(own, answer.content).root_cid == root
        assert answer.headers["content-type"] == RECORD and answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["content-disposition"].startswith("attachment;") and answer.headers["vary"] == "Accept"
        assert answer.headers["x-content-type-options"] == "nosniff"
        known = await vault.api.http.get(path, headers={**headers, "If-None-Match": answer.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")
        head = await vault.api.http.head(path, headers=headers)
        assert head.status_code == 200 and head.headers["content-length"] == str(len(data))
    assert await put(vault, record(vault, root, 2, days=100 / 86400, ttl_s=300)) == (200, "")
    for after_s, caching in ((0, "public, max-age=100"), (200, "no-store")):  # no cache outlives the record
        vault.api.clock.now += after_s
        answer = await vault.api.http.get(f"/ipns/{own}?format=ipns-record")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, caching)


async def test_records_only_rise(vault):
    old, new = await vault.keep(), await vault.keep()
    assert await put(vault, record(vault, old, 5)) == (200, "")
    assert (await put(vault, record(vault, new, 4)))[0] == 409
    status, text = await put(vault, record(vault, new, 5))
    assert status == 409 and "another device" in text
    assert await put(vault, record(vault, old, 5)) == (200, ""), "the same again"
    assert await put(vault, record(vault, old, 5, days=1)) == (200, ""), "an earlier end changes nothing"
    kept = await vault.api.http.get(f"/routing/v1/ipns/{vault.name}")
    assert read_record(vault.name, kept.content).validity_ns == int(until(vault).timestamp()) * 10**9
    assert await put(vault, record(vault, old, 5, days=4000)) == (200, ""), "a renewal"
    assert await put(vault, record(vault, new, 6)) == (200, "")


async def test_what_is_no_record_of_the_name(vault):
    root = await vault.keep()
    good = record(vault, root)
    other = name_of(Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    for data, under in (
        (b"", ""), (good[:-1], ""), (good, other), (record(vault, root, days=-1), ""), (good, "nonsense"),
        (good, vault.name + "/x"),
    ):  # fmt: skip
        status, text = await put(vault, data, under=under)
        assert status == 400 and text.endswith("\n"), text
    assert (await put(vault, b"x" * 10_241))[0] == 413
    assert (await put(vault, good, kind="application/json"))[0] == 406
    assert (await vault.api.http.get(f"/routing/v1/ipns/{vault.name}")).status_code == 404


async def test_only_a_registered_name_that_names_what_is_pinned(vault):
    """A record is refused if its name is not bound to the DID, or if it publishes another vault's snapshot."""
    root = await vault.keep()
    other = await registered(vault.api, "bob")
    theirs = await other.keep()
    unbound = await vault.keep(vault.blocks(delegate=False))
    for data, under in (
        (record(vault, theirs), ""), (record(other, root), other.name), (record(vault, unbound), ""),
        (record(vault, cid_of("dag-cbor", b"x")), ""),
    ):  # fmt: skip
        assert (await put(vault, data, under=under))[0] == 403
    (pin,) = [pin for pin in await vault.pins() if pin["pin"]["cid"] == root]
    await vault.api.http.delete(f"/pins/{pin['requestid']}", headers=vault.token())
    assert (await put(vault, record(vault, root)))[0] == 403, "no longer pinned"


@pytest.mark.parametrize(("changed", "status"), [
    ({"cmd": "/snapshots/write"}, 403), ({"cmd": "/snapshots/publishers"}, 403), ({"sub": "did:new:0x" + "11" * 32}, 403),
    ({"exp": 1}, 403), ({"nbf": 2_000_000_000}, 403), ({"pol": [["==", ".a", 1]]}, 403),
    ({"aud": "did:web:example.com"}, 403), ({"more": 1}, 403), ({"cmd": "/snapshots/publish"}, 200),
    ({"cmd": "/snapshots"}, 200), ({"cmd": "/"}, 200),
], ids=str)  # fmt: skip
async def test_a_delegation_that_holds_binds_the_name_and_no_other(vault, changed, status):
    root = await vault.keep(delegating(vault, vault.delegation(vault.public_key, vault.api.clock(), **changed)))
    assert (await put(vault, record(vault, root)))[0] == status


async def test_questions_that_are_refused(vault):
    root = await vault.keep()
    await put(vault, record(vault, root))
    own = vault.name
    other = name_of(Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    for path, accept, status in (
        (f"/ipns/{own}", "*/*", 400), (f"/ipns/{own}?format=raw", "*/*", 406), (f"/ipns/{own}?format=car", RECORD, 406),
        (f"/ipns/{own}/x?format=ipns-record", "*/*", 400), (f"/ipns/{other}?format=ipns-record", "*/*", 404),
        ("/ipns/?format=ipns-record", "*/*", 400), ("/ipns/example.com?format=ipns-record", "*/*", 400),
        (f"/ipns/{'k' * 5000}?format=ipns-record", "*/*", 400), (f"/routing/v1/ipns/{own}", "application/json", 406),
        (f"/routing/v1/ipns/{other}", RECORD, 404), ("/routing/v1/ipns/x", RECORD, 400),
    ):  # fmt: skip
        answer = await vault.api.http.get(path, headers={"Accept": accept})
        assert answer.status_code == status, path
        assert answer.headers["content-type"].startswith("text/plain") and answer.headers["cache-control"] == "no-store"


def delegating(vault, delegation):
    manifest = Manifest(root_cid=None, did=vault.did, updated_at=1, wasm_version="0", delegation=delegation)
    return snapshot_blocks(manifest, b"sealed")


async def ask_name(vault, credential):
    answer = await vault.api.get("/api/snapshots/name", credentialId=credential)
    return answer.status_code, answer.json()


async def test_a_credential_leads_to_the_name_of_its_vaults_snapshots(vault):
    await vault.keep(vault.blocks(delegate=False))
    assert await ask_name(vault, "credential-ann") == (200, {"found": False})
    vault.api.clock.now += 1
    await vault.keep()
    assert await ask_name(vault, "credential-ann") == (200, {"found": True, "name": vault.name})
    assert await ask_name(vault, "credential-of-no-one") == (200, {"found": False})
    assert (await ask_name(vault, "x" * 2000))[0] == 400
    assert (await vault.api.get("/api/snapshots/name")).status_code == 400
