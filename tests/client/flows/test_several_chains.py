"""Two local chains: a service on one with the ID of Base, and one on the test network that pays on both.

An account's changes of owners apply on both; guardians recover an account after a delay.
"""

import functools
import secrets
import sqlite3
import time
from contextlib import closing
from unittest.mock import AsyncMock, Mock

import pytest
from tests.client.flows.devices import add, change, person, remove, two_devices
from tests.support.outboxes import codes_to
from tests.support.payments import payment, someone
from tests.support.terminal import Terminal
from tests.support.two_chains import BASE, TEST

import holdfast
from holdfast.chain.account_calls import (
    SignedChanges,
    apply_changes,
    apply_together,
    create_account_with,
    start_recovery,
)
from holdfast.chain.account_candidates import accepted
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_reads import Owner
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.service_guardian import ServiceAlone
from holdfast.chain.signers import key_id, named
from holdfast.client.account.values import signed_from_text, signed_to_text
from holdfast.client.endpoint_methods import EndpointMethods
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.http.refusals import RecoveryNotFound, RecoveryWaits
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import did_hash

HOUR = 3600
EXPLORERS = {BASE: "https://base.blockscout.com", TEST: "https://base-sepolia.blockscout.com"}
SAID = {BASE: "Base (8453), real money", TEST: "Base Sepolia (84532), test money without value"}


@pytest.fixture
def client(both, tmp_path):
    with person(both, tmp_path) as made:
        yield made


@pytest.fixture
def devices(chain, tmp_path):
    with two_devices(chain, tmp_path) as pair:
        yield pair


@pytest.fixture
def devices_on_base(base, tmp_path):
    with two_devices(base, tmp_path) as pair:
        yield pair


def test_one_account_pays_on_two_chains(client, chain, base):
    account, payee = client.smart_account_address(), someone()
    chain.give(account, 100)
    base.give(account, 100)
    for place, chain_id, amount in ((chain, TEST, 1), (base, BASE, 20), (base, BASE, 3)):
        result = client.pay(payment(place, payee, amount, chain_id=chain_id))
        assert (result.chain, result.explorer_url) == (chain_id, f"{EXPLORERS[chain_id]}/op/{result.user_op_hash}")
        receipt = client.user_operation_receipt(result.user_op_hash, chain_id=chain_id)
        assert receipt is not None and place.receipt(receipt.transaction_hash) is not None
    assert (chain.usdc_of(payee), base.usdc_of(payee)) == (1, 23)
    assert [client.balance(account, "USDC", each).balance for each in (TEST, BASE)] == ["99", "77"]
    assert [client.money_on(each) for each in (TEST, BASE)] == [SAID[TEST], SAID[BASE]]
    assert [(each.chain_id, each.main, each.test_money, each.payments) for each in client.chains().chains] == [
        (TEST, True, True, True),
        (BASE, False, False, True),
    ]
    client.register(handle="h" + secrets.token_hex(6))
    assert [(note.amount, note.symbol, note.state) for note in client.payments()] == [
        ("0.000001", "USDC", "confirmed"),
        ("0.00002", "USDC on Base", "confirmed"),
        ("0.000003", "USDC on Base", "confirmed"),
    ]
    with pytest.raises(ValueError, match="pays on chain 84532, not on 1"):
        client.pay(payment(chain, payee, 1, chain_id=1))


def test_a_did_is_paid_on_another_chain_at_its_address(client, both, base, tmp_path):
    with person(both, tmp_path / "payee") as bob:
        did = bob.register(handle="h" + secrets.token_hex(6)).did
        address = bob.smart_account_address()
        while not bob.indexer_did(to_hex(did_hash(did))).active:
            time.sleep(0.05)
    base.give(client.smart_account_address(), 7)
    client.pay(payment(base, did, 7, chain_id=BASE))
    assert base.usdc_of(address) == 7


def test_an_owner_is_added_on_every_chain_of_the_service_by_one_signature(both, chain, base, tmp_path):
    ada = Terminal(tmp_path, both.base_url.replace("127.0.0.1", "localhost"), key="passkey")
    ada.json("vault", "create", "--software")
    added = "0x" + secrets.token_hex(20)
    done = ada.json("account", "owners", "add", added, "--yes")
    rows = [(row["chainId"], row["applied"], row["error"]) for row in done["chains"]]
    assert rows == [(TEST, 1, None), (BASE, 1, None)]
    state = ("keyState(bytes32)", key_id(bytes.fromhex(added[2:])))
    assert [place.call(done["account"], *state)[31] for place in (chain, base)] == [1, 1]
    assert [(row["chainId"], row["applied"]) for row in ada.json("account", "bring")["chains"]] == [(BASE, 0)]


def forged(account, sequence):
    return SignedChanges(account, sequence, (add(secrets.token_bytes(64)),), secrets.token_bytes(100))


def test_forged_changes_in_front_hide_no_removal_of_a_stolen_key(chain, base, devices):
    first, second = devices
    account = first.funded()
    lies = [forged(account, sequence) for sequence in range(2)]
    with first.client() as client:
        added = client.sign_account_changes([add(second.signer)])
    # A stranger submits the public changes, with forged ones after the arguments, where no contract reads them.
    create = functools.partial(create_account_with, ADDRESSES["AppFactory"], first.key, 0)
    chain.send(ADDRESSES["AppFactory"], create([added])[2] + b"".join(apply_changes(lie)[2] for lie in lies))
    with second.client(account) as client:
        removed = change(client, remove(first.signer))
        history = client.account_history()
    assert history == [lies[0], added, lies[1], removed] == signed_from_text(signed_to_text(history))
    together = functools.partial(apply_together, account)
    assert base.run(lambda rpc: accepted(rpc, history, create)) == [added, removed]
    to, _, data = create([])
    base.send(to, data)
    assert base.run(lambda rpc: accepted(rpc, history, together)) == [added, removed]
    with second.client(account) as client:
        again = [forged(account, 2), client.sign_account_changes([add(first.signer)]), added, forged(account, 2)]
        assert client.bring_account_changes(again).applied == 1
        assert len(client.account_view().owners) == 2
        with pytest.raises(OperationFailed, match="InvalidSignature"):
            client.bring_account_changes([forged(account, 3), forged(account, 3)])


def test_a_recovery_that_was_signed_for_one_chain_is_seen_and_cancelled_on_another(base, both, devices):
    owner, guardian = devices
    account = owner.funded()
    with holdfast.Client(both.base_url, vault=owner.vault, timeout=60) as client:
        terms = (Change(ChangeKind.ADD_GUARDIAN, guardian.signer), Change(ChangeKind.SET_QUORUM, value=1))
        signed = [client.sign_account_changes(terms)]
        for chain_id in (TEST, BASE):
            client.bring_account_changes(signed, chain_id=chain_id)
        with guardian.client(account) as signing:
            taken = signing.sign_account_recovery([guardian.signer])
        to, _, data = start_recovery(account, [guardian.signer], named([taken]))
        base.send(to, data)
        views = {it: client.account_view(chain_id=it) for it in (TEST, BASE)}
        assert views[TEST].recovery is None and views[BASE].recovery.new_owners == (guardian.signer,)
        client.cancel_account_recovery(chain_id=BASE)
        assert client.account_view(chain_id=BASE).recovery is None


def test_the_service_is_a_guardian_and_alone_only_if_the_person_agrees(base, devices_on_base, monkeypatch):
    lost, fresh = devices_on_base
    account, address = lost.funded(), f"{secrets.token_hex(5)}@example.com"
    with lost.client() as client:
        client.register(email=address, code=lambda _said: codes_to(address, base.data)[-1])
        (key,) = client.service_guardian_keys()
        chosen = (
            Change(ChangeKind.ADD_GUARDIAN, key),
            Change(ChangeKind.SET_QUORUM, value=1),
            Change(ChangeKind.SET_DELAY, value=HOUR),
        )
        with pytest.raises(ServiceAlone):
            client.sign_account_changes(chosen)
        with monkeypatch.context() as denying:
            denying.setattr(EndpointMethods, "recovery_terms", AsyncMock(return_value=Mock(guardians=[])))
            with pytest.raises(ServiceAlone):
                client.sign_account_changes(chosen)
        signed = client.sign_account_changes(chosen, service_alone=True)
        assert client.bring_account_changes([signed]).applied == 1
    with fresh.client(account) as client:
        with pytest.raises(RecoveryNotFound):
            client.service_recovery_signature([fresh.signer])
        request = client.ask_service_recovery([fresh.signer], address)
        checked = client.check_recovery(request=request, code=codes_to(address, base.data)[-1])
        assert (checked.verified, checked.account) == (True, account)
        with pytest.raises(RecoveryWaits):
            client.service_recovery_signature([fresh.signer])
        with closing(sqlite3.connect(base.data / "holdfast.db", timeout=30)) as database, database:
            database.execute("UPDATE recovery_requests SET ready_at = 0 WHERE request = ?", (request,))
        client.start_account_recovery([fresh.signer], [client.service_recovery_signature([fresh.signer])])
        with pytest.raises(OperationFailed, match=r"1 guardian\(s\) signed is under way"):
            client.start_account_recovery([lost.signer], [])
        base.rpc("evm_increaseTime", HOUR + 1)  # the last test with this chain moves its clock
        base.mine()
        client.finish_account_recovery()
        view = client.account_view()
        assert view.owners == (Owner(fresh.signer, 0, is_primary=True),)
        assert (view.recovery, view.guardians, view.settings.generation) == (None, (key,), 1)
    fresh.pays(account)
