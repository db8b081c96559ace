"""Tokens through the client: published test cases, minting, further delegation, revocation and replay."""

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
from holdfast.wire.client_errors import ClientStateError

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


@pytest.fixture(scope="module")
def vaults():
    with Vault() as owner, Vault() as agent:
        for vault in (owner, agent):
            vault.generate(GIVEN, SECRET)
        yield owner, agent


@pytest.fixture
def owner(vaults):
    return vaults[0]


@pytest.fixture
def agent(vaults):
    return vaults[1]


@pytest.mark.parametrize(("file", "case"), [pytest.param(f, c, id=f"{f}:{c['name']}") for f, c in verifying()])
def test_published_tokens_are_judged_as_published(verifier, file, case):
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


def listing(owner, agent):
    return owner.mint_delegation(types.DelegationOptions(to=agent.did_key(), command="/accounts/list"))


def test_an_invocation_is_let_through_once(owner, agent, verifier, tmp_path):
    delegation = listing(owner, agent)
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
        with pytest.raises(UcanRefused, match="only an invocation"):
            guard.accept(verifier.verify(delegation.container))
    with pytest.raises(UcanRefused, match="without an expiry"):
        ReplayGuard().accept(msgspec.structs.replace(claims, expiration=None))


def test_memory_is_given_back_when_the_token_is_over(owner, agent, verifier, tmp_path):
    delegation = listing(owner, agent)
    use = types.InvocationOptions(command="/accounts/list", token=delegation.container)
    first, second = (verifier.verify(agent.mint_invocation(use).container) for _ in range(2))
    clock = [time.time()]
    with VaultStore(directory=tmp_path) as store:
        guard = ReplayGuard(store, now=lambda: clock[0])
        guard.accept(first)
        clock[0] += 3600
        guard.accept(second)
        assert [store.note(f"invocation:{it.cid}") is None for it in (first, second)] == [True, False]


def test_half_of_a_character_in_a_token_is_refused_as_any_other_garbage(verifier):
    for token in ("C\ud800", "garbage"):
        with pytest.raises(UcanRefused) as caught:
            verifier.verify(token)
        assert caught.value.code == "invalid_encoding"


def test_a_closed_verifier_says_so():
    verifier = UcanVerifier()
    verifier.close()
    verifier.close()
    with pytest.raises(ClientStateError):
        verifier.verify("AAAA")
