"""Tokens through the client: published test cases, minting, further delegation, revocation and replay."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.ucan import ReplayGuard, UcanRefused, UcanVerifier
from holdfast.wire.client_errors import ClientStateError, PluginCallError

VECTORS = Path(__file__).parents[2] / "vectors/ucan"
FILES = sorted(file.name for file in VECTORS.glob("*.json"))


def verifying():
    for name in FILES:
        file = json.loads((VECTORS / name).read_text())
        if file["function"] == "verify_ucan":
            yield from ((name, case) for case in file["cases"] if "token" in case.get("input", {}))


@pytest.fixture(scope="module")
def verifier():
    with UcanVerifier() as made:
        yield made


@pytest.fixture
def owner():
    with Vault() as vault:
        vault.generate(GIVEN, SECRET)
        yield vault


@pytest.fixture
def agent():
    with Vault() as vault:
        vault.generate(GIVEN, SECRET)
        yield vault


@pytest.mark.parametrize(("file", "case"), [pytest.param(f, c, id=f"{f}:{c['name']}") for f, c in verifying()])
def test_published_tokens_are_judged_as_published(verifier, file, case):
    """The tokens are from the UCAN working group and another implementation; each invalid one has a single error."""
    question = dict(case["input"])
    token = question.pop("token")
    if "error" not in case:
        claims = verifier.verify(token, **question)
        wanted = case.get("output") or case["contains"]
        assert claims.valid
        assert {name: value for name, value in claims.to_json().items() if name in wanted} == {
            name: value for name, value in wanted.items() if name in claims.__struct_fields__ and value is not None
        }
        return
    with pytest.raises(UcanRefused) as caught:
        verifier.verify(token, **question)
    assert caught.value.code == case["error"]


def test_fixtures_of_others_are_among_them():
    named = {file for file, _ in verifying()}
    assert {f for f in named if "ucan_wg" in f or "iso_ucan" in f} >= {
        "delegation_ucan_wg.json",
        "delegations_valid_iso_ucan.json",
        "invocations_invalid_ucan_wg.json",
        "invocations_valid_iso_ucan.json",
        "invocations_valid_ucan_wg.json",
    }


def test_a_delegation_is_passed_on_and_used(owner, agent, verifier):
    given = types.DelegationOptions(to=agent.did_key(), command="/accounts", expiration=int(time.time()) + 60)
    delegation = owner.mint_delegation(given)
    claims = verifier.verify(delegation.container, audience=agent.did_key(), subject=owner.status().did)
    assert (claims.command, claims.cid) == ("/accounts", delegation.cid)
    use = types.InvocationOptions(command="/accounts/list", args={"limit": 3}, token=delegation.container)
    invocation = agent.mint_invocation(use)
    claims = verifier.verify(
        invocation.container, subject=owner.status().did, command="/accounts/list", args={"limit": 3}
    )
    assert (claims.kind, claims.issuer) == ("invocation", agent.did_key())
    for wrong in ({"command": "/accounts/get"}, {"args": {"limit": 4}}, {"subject": agent.status().did}):
        with pytest.raises(UcanRefused):
            verifier.verify(invocation.container, **wrong)
    with pytest.raises(UcanRefused) as caught:
        verifier.verify(invocation.container, revoked=[delegation.cid])
    assert caught.value.code == "token_revoked"
    with pytest.raises(UcanRefused) as caught:
        verifier.verify(delegation.container, now=int(time.time()) + 3600)
    assert caught.value.code == "token_expired"


def test_what_was_not_given_cannot_be_used(owner, agent):
    delegation = owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))
    with pytest.raises(PluginCallError) as caught:
        agent.mint_invocation(types.InvocationOptions(command="/enclaves/sign", token=delegation.container))
    assert caught.value.code == "command_denied"


@pytest.mark.parametrize("resource", list(types.Resource))
def test_exec_knows_every_resource(owner, resource):
    assert owner.exec(f"resource:{resource} action:list").success


def test_a_token_limits_exec(owner, agent):
    delegation = owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))
    assert owner.exec("resource:accounts action:list", token=delegation.container).success
    refused = owner.exec("resource:enclaves action:list", token=delegation.container)
    assert (refused.success, refused.result) == (False, None)
    assert refused.error
    unknown = owner.exec("resource:accounts action:burn")
    assert unknown.success is False


def test_exec_checks_who_brings_a_delegation_where_that_is_known(owner, agent):
    delegation = owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))
    listing = ("resource:accounts action:list", {})
    assert owner.exec(*listing, token=delegation.container).success, "a bearer token otherwise"
    assert owner.exec(*listing, token=delegation.container, audience=agent.did_key()).success
    refused = owner.exec(*listing, token=delegation.container, audience=owner.did_key())
    assert (refused.success, refused.error) == (False, "wrong_audience")


def test_an_invocation_is_let_through_once(owner, agent, verifier, tmp_path):
    delegation = owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))
    use = types.InvocationOptions(command="/accounts/list", token=delegation.container)
    claims = verifier.verify(agent.mint_invocation(use).container)
    other = verifier.verify(agent.mint_invocation(use).container)
    with VaultStore(directory=tmp_path) as store:
        guard = ReplayGuard(store)
        guard.accept(claims)
        guard.accept(other)
        with pytest.raises(UcanRefused, match="used before"):
            guard.accept(claims)
        with pytest.raises(UcanRefused, match="used before"):
            ReplayGuard(store).accept(claims)
        later = ReplayGuard(store, now=lambda: claims.expiration + 3600)
        later._seen = dict(guard._seen)
        with pytest.raises(UcanRefused):
            later.accept(verifier.verify(delegation.container))
    with pytest.raises(UcanRefused, match="without an expiry"):
        ReplayGuard().accept(msgspec.structs.replace(claims, expiration=None))


def test_memory_is_given_back_when_the_token_is_over(owner, agent, verifier):
    delegation = owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))
    use = types.InvocationOptions(command="/accounts/list", token=delegation.container)
    first, second = (verifier.verify(agent.mint_invocation(use).container) for _ in range(2))
    clock = [time.time()]
    guard = ReplayGuard(now=lambda: clock[0])
    guard.accept(first)
    clock[0] += 3600
    guard.accept(second)
    assert list(guard._seen) == [second.cid]


def test_a_closed_verifier_says_so():
    verifier = UcanVerifier()
    verifier.close()
    verifier.close()
    with pytest.raises(ClientStateError):
        verifier.verify("AAAA")


def test_vaults_move_in_mtrv_form(owner, tmp_path):
    exported = owner.export(types.VaultExportOptions(password="correct horse battery"))
    assert exported.did == owner.status().did
    assert bytes(exported.data[:4]) == b"MTRV"
    with VaultStore(directory=tmp_path) as store, Vault(store) as fresh:
        wrong = fresh.import_(types.VaultImportOptions(data=exported.data, password="wrong"), SECRET)
        assert (wrong.success, wrong.error) == (False, "export_rejected")
        assert store.load() is None
        right = fresh.import_(types.VaultImportOptions(data=exported.data, password="correct horse battery"), SECRET)
        assert (right.success, right.did, right.accounts, right.credentials) == (True, exported.did, 1, 1)
        assert store.load().manifest.did == exported.did
