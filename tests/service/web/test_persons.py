"""A person gets a copy of what the service stores, and takes it back, by requests that the vault's key signs."""

import pytest
from tests.support.snapshot_vaults import Vault, failure, registered

from holdfast.content.cids import cid_of
from holdfast.rules.limits import PERSON_REQUESTS_PER_ADDRESS_HOUR

EXPORT, REMOVE, ADD = "/person/export", "/person/remove", "/person/add"


@pytest.fixture
async def vault(make_api):
    return await registered(make_api(snapshots_free_bytes="0"))


def token(vault, command, args=None):
    return vault.token(cmd=command, args=args or {})


async def remove(vault, **args):
    return await vault.api.http.post("/api/person/removals", headers=token(vault, REMOVE, args))


async def export(vault):
    answer = await vault.api.http.get("/api/person", headers=token(vault, EXPORT))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_copy_has_every_kind_of_row_with_readable_times(vault):
    root = await vault.keep()
    await vault.pin(root, name="mine")
    found = await export(vault)
    assert found["did"] == vault.did and found["exportedAt"].endswith("Z")
    (identifier,) = found["identifiers"]
    assert (identifier["channel"], identifier["given"], identifier["stage"]) == ("handle", "ann", "registered")
    assert identifier["created_at"].endswith("Z") and identifier["address"]
    assert [row["credential"] for row in found["credentials"]] == ["credential-ann"]
    assert [row["cid"] for row in found["snapshots"]] == [root]
    assert [(row["name"], row["origins"], row["created_at"][-1]) for row in found["pins"]] == [("mine", [], "Z")]


async def test_a_passkey_a_name_and_everything_are_taken_back(vault):
    await vault.keep()
    gone = (await remove(vault, credentialId="credential-ann")).json()
    assert gone == {"ok": True, "identifiers": 0, "credentials": 1, "snapshots": 0, "pins": 0}
    assert (await vault.api.get("/api/dids/lookup", credentialId="credential-ann")).json() == {"found": False}
    gone = (await remove(vault, identifier=" Ann ", channel="handle")).json()
    assert gone == {"ok": True, "identifiers": 1, "credentials": 0, "snapshots": 0, "pins": 0}
    assert (await vault.api.get("/api/sessions/check", identifier="ann")).json()["available"] is True
    gone = (await remove(vault, everything=True)).json()
    assert gone == {"ok": True, "identifiers": 0, "credentials": 0, "snapshots": 1, "pins": 1}
    found = await export(vault)
    assert not any(rows for kind, rows in found.items() if kind not in {"did", "exportedAt", "audit"})
    assert {row["key"][:5] for row in found["audit"]} == {"hash "}


async def test_what_another_did_holds_answers_as_nothing_does(vault):
    other = Vault(api=vault.api)
    for args in ({"credentialId": "credential-ann"}, {"identifier": "ann", "channel": "handle"}, {"everything": True}):
        theirs, nothing = await remove(other, **args), await remove(Vault(api=vault.api), **_of_nobody(args))
        assert theirs.status_code == nothing.status_code == 200
        assert theirs.json() == nothing.json() == {**theirs.json(), "identifiers": 0, "credentials": 0}
    assert len((await export(vault))["credentials"]) == 1


def _of_nobody(args):
    return {name: value if name in {"channel", "everything"} else "nobody-at-all" for name, value in args.items()}


async def test_the_token_decides_and_arguments_of_another_form_remove_nothing(vault):
    post, get = vault.api.http.post, vault.api.http.get
    for headers, reason in (
        ({}, "UNAUTHORIZED"),
        (vault.token(), "WRONG_COMMAND"),
        (token(vault, EXPORT), "WRONG_COMMAND"),
        (vault.token(cmd=REMOVE, aud="did:web:other.example"), "WRONG_AUDIENCE"),
        (vault.token(cmd=REMOVE, sub="did:new:0x" + "11" * 32), "WRONG_SUBJECT"),
    ):
        assert failure(await post("/api/person/removals", headers=headers)) == (401, reason)
    refused = await get("/api/person", headers=token(vault, REMOVE, {"everything": True}))
    assert failure(refused) == (401, "WRONG_COMMAND")
    assert len((await export(vault))["identifiers"]) == 1
    for args in (
        {}, {"everything": False}, {"everything": 1}, {"everything": True, "credentialId": "x"}, {"identifier": "ann"},
        {"identifier": "ann", "channel": "post"}, {"identifier": 7, "channel": "handle"}, {"credentialId": "not base64!"},
        {"credentialId": ["credential-ann"]}, {"more": 1},
    ):  # fmt: skip
        assert failure(await remove(vault, **args)) == (400, "BAD_REQUEST"), args
    assert len((await export(vault))["credentials"]) == 1


async def test_requests_of_an_address_are_limited(vault):
    for path in ("/api/person", "/api/person/removals", "/api/person/identifiers"):
        answer = await vault.api.http.options(path)
        assert "Authorization" in answer.headers["access-control-allow-headers"], "pages of other origins may send it"
    headers = token(vault, REMOVE, {"credentialId": "none"})
    for _ in range(PERSON_REQUESTS_PER_ADDRESS_HOUR):
        assert (await vault.api.http.post("/api/person/removals", headers=headers)).status_code == 200
    assert failure(await remove(vault, everything=True)) == (429, "TOO_MANY_REQUESTS")
    refused = await vault.api.http.get("/api/person", headers=token(vault, EXPORT))
    assert failure(refused) == (429, "TOO_MANY_REQUESTS")


async def test_an_address_without_uploads_left_gets_a_copy_and_erases(make_api):
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_uploads_per_address_hour="1"))
    cids = [cid_of("dag-cbor", bytes([n])) for n in range(2)]
    pinned = [await vault.api.http.post("/pins", headers=vault.token(), json={"cid": cid}) for cid in cids]
    assert [answer.status_code for answer in pinned] == [202, 429]
    assert len((await export(vault))["credentials"]) == 1
    assert (await remove(vault, everything=True)).json()["identifiers"] == 1
    without = await registered(make_api(snapshots="off"), "bob")
    assert (await remove(without, everything=True)).json()["identifiers"] == 1, "without snapshots, too"


async def add(vault, attestation, **more):
    headers = token(vault, ADD, {"attestation": attestation, **more})
    return await vault.api.http.post("/api/person/identifiers", headers=headers)


async def test_an_address_needs_a_current_attestation_and_a_registered_did_is_added_and_freed(vault):
    attestation = await vault.api.attested()
    assert failure(await add(Vault(api=vault.api), attestation)) == (403, "DID_NOT_REGISTERED")
    forged = {**attestation, "identifier": "other@example.com"}
    assert failure(await add(vault, forged)) == (403, "ATTESTATION_REFUSED")
    for wrong in (None, "text", {}, {**attestation, "identifier": 7}, {**attestation, "channel": "handle"}):
        assert failure(await add(vault, wrong)) == (400, "BAD_REQUEST")
    assert failure(await add(vault, attestation, more=1)) == (400, "BAD_REQUEST")
    vault.api.clock.now += 301
    assert failure(await add(vault, attestation)) == (403, "ATTESTATION_REFUSED")
    assert len((await export(vault))["identifiers"]) == 1
    attestation = await vault.api.attested("Ann@Example.com")
    answer = await add(vault, attestation)
    assert answer.json() == {"ok": True, "identifier": attestation["identifier"], "channel": "email"}
    assert {it["channel"] for it in (await export(vault))["identifiers"]} == {"handle", "email"}
    session = {"identifier": "ann@example.com", "channel": "email", "did": "did:new:0x02"}
    assert (await vault.api.post("/api/sessions", **session)).json() == {"error": "identifier_taken"}
    other = await registered(vault.api, "bob")
    assert failure(await add(other, await vault.api.attested("ann@example.com"))) == (409, "IDENTIFIER_TAKEN")
    assert (await remove(vault, identifier="ann@example.com", channel="email")).json()["identifiers"] == 1
