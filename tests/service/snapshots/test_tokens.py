"""Who may write: every way in which a token can be invalid, the uses of a valid one, and a DID that the chain refused."""

import base64
import gzip
import os

from tests.support.snapshot_vaults import failure, registered
from tests.support.vault_tokens import VaultKey, container, twin

from holdfast.content import dag_cbor
from holdfast.content.cars import write_car
from holdfast.content.cids import cid_of
from holdfast.content.ipld import link
from holdfast.enclave import Enclave
from holdfast.rules.registration import Confirmation
from holdfast.service.store.port import StoreUnavailable

NOW = 1_800_000_000
PROOF = link(cid_of("dag-cbor", b"a delegation"))  # no chain is followed, whatever it leads to
DEEP = [[[[[[[[[[PROOF]]]]]]]]]]


async def told(vault, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    return failure(await vault.api.get("/pins", headers=headers))


async def test_a_claim_that_is_wrong_gets_its_reason_and_no_refusal_names_a_secret(vault):
    for claims in ({"exp": NOW + 600}, {"exp": NOW + 600, "iat": ...}, {"nbf": NOW + 60, "iat": NOW + 60}):
        assert (await vault.api.get("/pins", headers=vault.token(**claims))).status_code == 200, "ten minutes at most"
    for changed, reason in (
        ({"exp": NOW}, "TOKEN_EXPIRED"), ({"exp": NOW - 1, "iat": NOW - 500}, "TOKEN_EXPIRED"),
        ({"exp": None}, "TOKEN_LIVES_TOO_LONG"), ({"exp": NOW + 601, "iat": NOW}, "TOKEN_LIVES_TOO_LONG"),
        ({"exp": NOW + 661, "iat": ...}, "TOKEN_LIVES_TOO_LONG"),
        ({"exp": 2**53 - 1, "iat": 2**53 - 2}, "TOKEN_LIVES_TOO_LONG"), ({"iat": NOW + 61}, "TOKEN_NOT_YET_VALID"),
        ({"nbf": NOW + 61}, "TOKEN_NOT_YET_VALID"), ({"aud": "did:web:other.example"}, "WRONG_AUDIENCE"),
        ({"aud": ...}, "WRONG_AUDIENCE"), ({"cmd": "/snapshots"}, "WRONG_COMMAND"), ({"cmd": "/"}, "WRONG_COMMAND"),
        ({"cmd": "/ucan/revoke"}, "WRONG_COMMAND"), ({"sub": "did:new:0x" + "11" * 32}, "WRONG_SUBJECT"),
        ({"exp": ...}, "UNAUTHORIZED"), ({"exp": True}, "UNAUTHORIZED"), ({"exp": 1.5}, "UNAUTHORIZED"),
        ({"exp": -1}, "UNAUTHORIZED"), ({"prf": ["x"]}, "UNAUTHORIZED"), ({"more": 1}, "UNAUTHORIZED"),
        ({"prf": [PROOF]}, "UNAUTHORIZED"), ({"prf": [PROOF] * 130}, "UNAUTHORIZED"), ({"prf": DEEP}, "UNAUTHORIZED"),
        ({"nonce": "text"}, "UNAUTHORIZED"), ({"args": []}, "UNAUTHORIZED"),
        ({"iss": "did:key:zDnaeXHcdw2womDKYygkQCjaHBFuEcmnqHGdHyUDRmXhpvy4T"}, "UNAUTHORIZED"),
        ({"iss": "did:key:z6MkgGykN9ARNFjEzowVq4mLP2kL4NsyAaDGXeJFQ5qE1bfg"}, "UNAUTHORIZED"),
        ({"iss": "did:key:z" + "1" * 50}, "UNAUTHORIZED"),
    ):  # fmt: skip
        headers = vault.token(**changed)
        answer = await vault.api.get("/pins", headers=headers)
        assert failure(answer) == (401, reason)
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert headers["Authorization"][20:60] not in answer.text and vault.did not in answer.text


def _token(vault):
    return vault.envelope(vault.invocation(NOW))


FORGED = {
    "another's signature": lambda vault: VaultKey().envelope(vault.invocation(NOW)),
    "a changed claim": lambda vault: _token(vault).replace(b"/snapshots/write", b"/snapshots/wrote"),
    "a delegation": lambda vault: vault.delegation(bytes(32), NOW), "noise": lambda _vault: os.urandom(200),
    "nesting": lambda _vault: bytes.fromhex("825840") + bytes(64) + b"\x81" * 5000,
    "a claimed length": lambda _vault: bytes.fromhex("825840") + bytes(64) + bytes.fromhex("9bffffffffffffffff"),
}  # fmt: skip


async def test_a_forged_token_opens_nothing(vault):
    for name, made in FORGED.items():
        assert await told(vault, "Bearer " + container(made(vault))) == (401, "UNAUTHORIZED"), name


async def test_only_one_form_of_container_is_read(vault):
    token = _token(vault)
    whole = dag_cbor.encode({"ctn-v1": [token]})
    packed = base64.urlsafe_b64encode(gzip.compress(whole)).rstrip(b"=").decode()
    for text in (
        None, "", "Bearer", "Bearer ", "Basic abc", container(token), "Bearer B" + base64.b64encode(whole).decode(),
        "Bearer M" + packed, "Bearer O" + packed, "Bearer P" + packed, "Bearer " + container(token, token),
        "Bearer " + container(), "Bearer C" + base64.urlsafe_b64encode(dag_cbor.encode({"ctn-v2": [token]})).decode(),
        "Bearer " + container(token) + "=", "Bearer C" + "A" * 9000, "Bearer " + container(b"\x00" * 4000),
    ):  # fmt: skip
        assert await told(vault, text) == (401, "UNAUTHORIZED"), text


async def test_one_token_serves_a_client_that_polls(vault):
    token, blocks = _token(vault), vault.blocks()
    headers, other_form = ({"Authorization": "Bearer " + container(form)} for form in (token, twin(token)))
    car = write_car(blocks[0].cid, blocks)
    assert [(await vault.upload(car, headers=headers)).status_code for _ in range(2)] == [200, 200]
    made = [await vault.api.post("/pins", headers=headers, cid=blocks[0].cid, name="n") for _ in range(2)]
    assert made[0].status_code == 202 and made[0].json() == made[1].json()
    for _ in range(3):
        seen = await vault.api.get(f"/pins/{made[0].json()['requestid']}", headers=headers)
        assert seen.json()["status"] == "pinned"
    for again in (headers, other_form):
        refused = await vault.api.post("/pins", headers=again, cid=blocks[0].cid, name="other")
        assert failure(refused) == (401, "TOKEN_USED"), "either form of its signature is the same token"
    gone = await vault.api.http.delete(f"/pins/{made[0].json()['requestid']}", headers=vault.token())
    assert gone.status_code == 202 and gone.content == b""
    assert failure(await vault.api.post("/pins", headers=headers, cid=blocks[0].cid, name="n")) == (401, "TOKEN_USED")


async def revoked(vault, **given):
    headers = vault.token(cmd="/ucan/revoke", **given)
    return (await vault.api.post("/api/snapshots/revocations", headers=headers)).json()


async def test_one_token_is_revoked_by_its_cid_in_either_form_and_every_token_issued_until_now(vault):
    token = _token(vault)
    own = {"Authorization": "Bearer " + container(token)}
    assert (await vault.api.get("/pins", headers=own)).status_code == 200
    cid = Enclave().call("cid", data=token, codec="dag-cbor")["cid"]
    assert await revoked(vault, args={"ucan": link(cid)}) == {"revoked": True, "cid": cid}
    assert failure(await vault.api.get("/pins", headers=own)) == (401, "TOKEN_REVOKED")
    lost, other = vault.token(), await registered(vault.api, "bob")
    assert (await vault.api.get("/pins", headers=lost)).status_code == 200
    assert await revoked(vault) == {"revoked": True, "cid": None}
    assert failure(await vault.api.get("/pins", headers=lost)) == (401, "TOKEN_REVOKED")
    vault.api.clock.now += 1
    for good in (vault.token(), other.token()):
        assert (await vault.api.get("/pins", headers=good)).status_code == 200
    writing = await vault.api.post("/api/snapshots/revocations", headers=vault.token())
    assert failure(writing) == (401, "WRONG_COMMAND")


async def test_refused_tokens_count_against_their_address(make_api):
    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_refusals_per_address_minute="3"))
    stranger, here = VaultKey(), "192.0.2.1"
    for _ in range(10):
        assert (await vault.api.get("/pins", ip=here, headers=vault.token())).status_code == 200
    bad = ({}, {"Authorization": "Bearer C" + "A" * 99}, stranger.bearer(NOW))
    assert [(await vault.api.post("/pins", ip=here, headers=one)).status_code for one in bad] == [401, 401, 403]
    for path in ("/pins", "/pins/x", "/api/v0/dag/import", "/api/snapshots/revocations"):
        ask = vault.api.get if path.startswith("/pins") else vault.api.post
        refused = await ask(path, ip=here, headers=vault.token())
        assert failure(refused) == (429, "TOO_MANY_REQUESTS") and int(refused.headers["retry-after"]) >= 1
        assert "Retry-After" in refused.headers["access-control-expose-headers"]  # apps on other origins wait, too
    assert (await vault.api.get("/pins", ip="192.0.2.2", headers=vault.token())).status_code == 200
    vault.api.clock.now += 20
    assert (await vault.api.get("/pins", ip=here, headers=vault.token())).status_code == 200


async def test_without_the_store_no_token_is_accepted_or_called_invalid(make_api, monkeypatch):
    async def gone(*_):
        raise StoreUnavailable("gone")

    vault = await registered(make_api(snapshots_free_bytes="0", snapshots_refusals_per_address_minute="1"))
    monkeypatch.setattr(type(vault.api.service.store.snapshots), "is_revoked", gone)
    for _ in range(3):
        answer = await vault.api.get("/pins", ip="192.0.2.1", headers=vault.token())
        assert failure(answer) == (503, "SERVICE_UNAVAILABLE") and answer.headers["retry-after"] == "1"


async def test_revocations_pins_and_lists_are_limited(make_api):
    limits = {"snapshots_uploads_per_address_hour": "2", "snapshots_reads_per_address_minute": "2"}
    vault = await registered(make_api(snapshots_free_bytes="0", **limits))

    async def revoke():
        named = vault.token(cmd="/ucan/revoke", args={"ucan": link(cid_of("dag-cbor", os.urandom(8)))})
        return (await vault.api.post("/api/snapshots/revocations", ip="192.0.2.1", headers=named)).status_code

    assert [await revoke() for _ in range(3)] == [200, 200, 429]
    cids = [cid_of("dag-cbor", bytes([n])) for n in range(3)]
    pinned = [await vault.api.post("/pins", ip="203.0.113.9", headers=vault.token(), cid=cid) for cid in cids]
    assert [answer.status_code for answer in pinned] == [202, 202, 429]
    assert failure(pinned[2]) == (429, "TOO_MANY_REQUESTS") and int(pinned[2].headers["retry-after"]) == 3600
    asked = [await vault.api.get("/pins", ip="192.0.2.1", headers=vault.token()) for _ in range(3)]
    assert [answer.status_code for answer in asked] == [200, 200, 429]


async def test_an_unconfirmed_did_has_a_small_quota_and_a_refused_one_lists_and_removes_but_adds_nothing(make_api):
    api = make_api(snapshots_free_bytes="0", snapshots_bytes_unconfirmed="5000")
    vault, other = await registered(api), await registered(api, "bob")
    await vault.keep(vault.blocks(b"x" * 2000))
    blocks = vault.blocks(b"y" * 4000)
    car = write_car(blocks[0].cid, blocks)
    assert failure(await vault.upload(car)) == (409, "INSUFFICIENT_FUNDS")
    await api.service.store.settle("credential-ann", Confirmation.CONFIRMED, 1, api.clock.now)
    assert (await vault.upload(car)).status_code == 200
    vault, cid = other, await other.keep()
    await api.service.store.settle("credential-bob", Confirmation.REFUSED, 1, api.clock.now)
    (listed,) = await vault.pins()
    path = f"/pins/{listed['requestid']}"
    for refused in (await vault.pin(cid), await vault.upload(b"")):
        assert failure(refused) == (403, "DID_NOT_REGISTERED")
    assert (await api.http.delete(path, headers=vault.token())).status_code == 202
    assert await vault.pins() == []
