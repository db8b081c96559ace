"""POST /api/dids with a signature by the DID's key: strangers cannot keep the owner from registering."""

import pytest
from tests.support.api import error_of
from tests.support.vault_tokens import VaultKey

COMMAND = "/dids/register"


@pytest.fixture
def key():
    """The owner's key."""
    return VaultKey()


def signed(api, key, credential, **claims):
    """Return the header with which the key signs the registration of a credential."""
    return key.bearer(api.clock.now, **{"cmd": COMMAND, "args": {"credentialId": credential}, **claims})


async def flood(api, key, prefix="s"):
    """Register a stranger's credentials for the owner's handle until one is refused; return the statuses."""
    posts = [await api.register(did=key.did, credentialId=f"{prefix}{n}", ip="198.51.100.9") for n in range(17)]
    return [answer.status_code for answer in posts]


async def found(api, credential):
    return (await api.get("/api/dids/lookup", credentialId=credential)).json()["found"]


async def test_a_first_registration_cannot_be_stopped(api, key):
    await api.session("ann", did=key.did)
    assert await flood(api, key) == [200] * 7 + [429] * 10
    assert error_of(await api.register(did=key.did, credentialId="own")) == (429, "credential_limit_reached")
    answer = await api.register(did=key.did, credentialId="own", headers=signed(api, key, "own"))
    assert answer.json() == {"ok": True, "identifier": "ann", "channel": "handle", "txHash": "0xabc"}
    assert await found(api, "own")


async def post_with(api, key, headers):
    return await api.register(did=key.did, credentialId="own", headers=headers)


@pytest.mark.parametrize("change", [
    {"cmd": "/snapshots/write"}, {"args": {"credentialId": "other"}}, {"args": {"credentialId": 5}}, {"args": {}},
    {"aud": "did:web:elsewhere.example"}, {"exp": 1_800_000_000 - 1, "iat": ...},
    {"exp": 1_800_000_000 + 7200, "iat": ...}, {"sub": "did:new:0x" + "00" * 32},
])  # fmt: skip
async def test_a_token_for_anything_else_counts_as_none(api, key, change):
    await api.session("ann", did=key.did)
    await flood(api, key)
    refused = await post_with(api, key, signed(api, key, "own", **change))
    assert error_of(refused) == (429, "credential_limit_reached")


async def test_anothers_key_and_no_token_at_all_count_as_none(api, key):
    await api.session("ann", did=key.did)
    await flood(api, key)
    stranger = signed(api, VaultKey(), "own")
    for headers in (stranger, {"Authorization": "Bearer Cxyz"}, {"Authorization": "Basic YTpi"}):
        assert error_of(await post_with(api, key, headers)) == (429, "credential_limit_reached")


async def test_a_token_is_no_obstacle_where_there_is_room(api, key):
    assert (await post_with(api, key, {"Authorization": "Bearer Cxyz"})).status_code == 200
    assert await found(api, "own")


async def test_a_revoked_token_counts_as_none(api, key):
    await api.session("ann", did=key.did)
    await flood(api, key)
    headers = signed(api, key, "own")
    await api.service.store.snapshots.revoke(key.did, None, api.clock.now, api.clock.now + 900)
    assert error_of(await post_with(api, key, headers)) == (429, "credential_limit_reached")


async def test_a_page_of_another_origin_may_send_the_signature(api):
    asked = await api.http.options("/api/dids")
    assert asked.headers["access-control-allow-headers"] == "*, Authorization"
    assert (await api.http.options("/api/sessions")).headers["access-control-allow-headers"] == "*"
