"""The holder of a delegation can never spend more than any limit in the chain of delegations allows."""

import base64
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import cbor2
import pytest
from tests.support import soak
from tests.support.blocking import asynchronous
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.loop import run
from holdfast.client.blocking.vault import Vault
from holdfast.client.flows.payee import Payee
from holdfast.client.flows.payment import PaymentRefused, Payments
from holdfast.client.storage.notes import MemoryNotes
from holdfast.client.ucan import ReplayGuard, UcanRefused, UcanVerifier

PAYEE = Payee("0x00000000000000000000000000000000000000A1", None)
USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@pytest.fixture(scope="module")
def owner():
    with Vault() as vault:
        vault.generate(GIVEN, SECRET)
        yield vault


@pytest.fixture(scope="module")
def agents():
    with ExitStack() as stack:
        made = [stack.enter_context(Vault()) for _ in range(5)]
        for agent in made:
            agent.generate(GIVEN, SECRET)
        yield made


@pytest.fixture(params=["stored", "in memory"])
def budget(request, store):
    return store if request.param == "stored" else MemoryNotes()


def pays(owner, budget, token, amount, currency=USDC):
    """Return "paid", or the reason why the delegation's limits forbid the payment."""
    params = types.PaymentParams(to=PAYEE.address, amount=str(amount), token=currency, chain_id=84532, ucan=token)
    try:
        run(Payments(None, asynchronous(owner), None, budget, None).authorise(params, PAYEE, amount))
    except PaymentRefused as refused:
        return str(refused)
    return "paid"


def delegate(giver, taker, *policy, token=None):
    given = types.DelegationOptions(to=taker.did_key(), command="/accounts/pay", caveats={"policy": list(policy)})
    return giver.mint_delegation(given, **({} if token is None else {"token": token}))


def invoke(holder, amount, token, **more):
    args = {"to": PAYEE.address, "amount": amount, "token": USDC, "chainId": 84532, **more.pop("args", {})}
    return holder.mint_invocation(types.InvocationOptions(command="/accounts/pay", args=args, token=token), **more)


def twin(raw):
    s = P256_ORDER - int.from_bytes(raw[35:67], "big")
    return raw[:35] + s.to_bytes(32, "big") + raw[67:]


def reshown(container, choose):
    """Return the container with the other valid s value (n - s) in the signatures that `choose` selects."""
    padded = container[1:] + "=" * (-(len(container) - 1) % 4)
    tokens = cbor2.loads(base64.urlsafe_b64decode(padded))["ctn-v1"]
    shown = [twin(raw) if choose() else raw for raw in tokens]
    return "B" + base64.b64encode(cbor2.dumps({"ctn-v1": shown})).decode()


def test_an_invocation_pays_once_and_only_what_it_names(owner, agents, budget):
    delegation = delegate(owner, agents[0], ["<=", ".amount", 50]).container
    invocation = invoke(agents[0], 50, delegation).container
    assert "not allow" in pays(owner, budget, invocation, 49), "which does not use it up"
    assert pays(owner, budget, invocation, 50) == "paid"
    for choose in (lambda: False, lambda: True):
        assert "used before" in pays(owner, budget, reshown(invocation, choose), 50)
    with UcanVerifier() as verifier:
        guard = ReplayGuard()
        guard.accept(verifier.verify(invocation))
        with pytest.raises(UcanRefused, match="used before"):
            guard.accept(verifier.verify(reshown(invocation, lambda: True)))


def test_invocations_count_under_their_delegations(owner, agents, budget):
    """Invocations use up the limit even if the policy states it as a negation, which a missing total would satisfy."""
    for limit in (["<=", ".total", 100], ["not", [">", ".total", 100]]):
        delegation = delegate(owner, agents[0], limit).container
        for expected in ("paid", "paid", "policy_denied"):
            asking = invoke(agents[0], 50, delegation, args={"total": 50}).container
            assert expected in pays(owner, budget, asking, 50)
        assert "policy_denied" in pays(owner, budget, delegation, 1)


def test_tokens_of_others_for_others_or_for_something_else_pay_nothing(owner, agents, budget):
    token = delegate(owner, agents[0])
    for audience in ("did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG", "did:web:a.example"):
        elsewhere = invoke(agents[0], 50, token.container, audience=audience).container
        assert "wrong_audience" in pays(owner, budget, elsewhere, 50)
    here = invoke(agents[0], 50, token.container, audience=owner.status().did).container
    assert pays(owner, budget, here, 50) == "paid"
    listing = types.DelegationOptions(to=agents[0].did_key(), command="/accounts/list")
    assert "command_denied" in pays(owner, budget, owner.mint_delegation(listing).container, 1)
    payee = delegate(owner, agents[0], ["==", ".to", "0x" + "11" * 20]).container
    assert "policy_denied" in pays(owner, budget, payee, 1)
    for foreign in (delegate(agents[0], agents[1]).container, "AAAA"):
        assert "does not allow" in pays(owner, budget, foreign, 1)
    assert owner.exec("resource:delegations action:revoke", {"cid": token.cid}).success
    assert "token_revoked" in pays(owner, budget, token.container, 1)


def test_each_token_has_a_total(owner, agents, budget):
    token = delegate(owner, agents[0], ["<=", ".total", 10]).container
    assert pays(owner, budget, token, 10) == pays(owner, budget, token, 10, "native") == "paid"
    assert "policy_denied" in pays(owner, budget, token, 1, USDC.lower())


class Tree:
    """Random delegations, some of them passed on, and a separate calculation of what may be spent."""

    def __init__(self, owner, agents, chance):
        self.owner, self.agents, self.chance = owner, agents, chance
        self.limits, self.spent, self.links = {}, {}, []

    def grow(self):
        """Add a delegation, either from the owner or passed on by its holder."""
        above = self.chance.choice([*self.links, None]) if self.links else None
        path, holders, token = above or ((), (self.owner,), None)
        left = [agent for agent in self.agents if agent not in holders]
        if not left:
            return
        taker = self.chance.choice(left)
        limit = self.chance.choice([None, self.chance.randint(1, 120)])
        policy = [] if limit is None else [["<=", ".total", limit]]
        made = delegate(holders[-1], taker, *policy, token=token)
        self.limits[made.cid], self.spent[made.cid] = limit, 0
        self.links.append(((*path, made.cid), (*holders, taker), made.container))

    def allows(self, path, amount):
        """Return whether every limit in the chain of delegations leaves enough for the amount."""
        return all(self.limits[cid] is None or self.spent[cid] + amount <= self.limits[cid] for cid in path)

    def pay(self, budget):
        path, holders, token = self.chance.choice(self.links)
        amount = self.chance.randint(1, 60)
        if self.chance.random() < 0.3:
            # The total that an invocation itself contains must not be trusted.
            token = invoke(holders[-1], amount, token, args={"total": self.chance.randint(0, 1)}).container
        shown = reshown(token, lambda: self.chance.random() < 0.5)
        expected = self.allows(path, amount)
        assert (pays(self.owner, budget, shown, amount) == "paid") is expected
        for cid in path if expected else ():
            self.spent[cid] += amount


@pytest.mark.parametrize("seed", range(soak.amount(1, 6)))
def test_no_limit_on_any_path_is_ever_exceeded(owner, agents, budget, seed):
    tree = Tree(owner, agents, random.Random(seed))
    for _ in range(40):
        tree.grow() if len(tree.links) < 3 or tree.chance.random() < 0.2 else tree.pay(budget)
    assert sum(tree.spent.values()) > 0
    assert all(limit is None or tree.spent[cid] <= limit for cid, limit in tree.limits.items())


def test_parallel_payments_under_one_root_stay_within_its_total(owner, agents, store):
    root = delegate(owner, agents[0], ["<=", ".total", 30]).container
    leaves = [delegate(agents[0], agent, token=root).container for agent in agents] * 3
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda leaf: pays(owner, store, leaf, 10), leaves))
    assert made.count("paid") == 3


def test_notes_are_replaced_all_or_none(budget):
    assert budget.replace_notes({"root": (None, "5"), "leaf": (None, "5")})
    assert not budget.replace_notes({"root": ("5", "10"), "leaf": (None, "5")})
    assert [budget.note(name) for name in ("root", "leaf", "other")] == ["5", "5", None]
