"""Depending on the registry's reply to a claim, the client sends a commitment, waits for a block, or gives up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.client.snapshots.devices import SECRET as DEVICE_KEY
from tests.client.snapshots.devices import Device
from tests.support.running_service import Coroutines

from holdfast.chain import calls
from holdfast.chain.abi import decode_call
from holdfast.chain.contracts import ADDRESSES, DEFAULT_CONTRACT_SET, commitment
from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import AccountKey
from holdfast.client.flows.chain_registration import ChainRegistration
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.progress import ProgressStore
from holdfast.client.handles import canonical_handle
from holdfast.client.types import ContractSet
from holdfast.wire.abi import selector
from holdfast.wire.keccak import alias_hash, did_hash
from holdfast.world.software_key import SoftwareKey

KEY = SoftwareKey.generate()
ACCOUNT, REGISTRY = "0x" + "a1" * 20, ADDRESSES["DIDRegistry"]
COMMIT = selector("commit(bytes32)")
SECRET = b"\x05" * 32
NOT_COMMITTED = OperationFailed("refused (reverted)", "NotCommitted(commitment=0x07)")
TOO_NEW = OperationFailed("refused (reverted)", "CommitmentTooNew(commitment=0x07, blockNumber=9)")
EXPIRED = OperationFailed("refused (reverted)", "CommitmentExpired(commitment=0x07, expiredAt=9)")
SILENT = OperationFailed("refused (execution reverted)")
TAKEN = OperationFailed("refused (reverted)", "AliasTaken(aliasHash=0x01, didHash=0x02)")


class Account:
    """A smart account whose attempts to prepare the registration fail with the listed errors; "" means success."""

    def __init__(self, outcomes, *, registered=False):
        self.outcomes, self.registered = list(outcomes), registered
        self.key = AccountKey(KEY.x, KEY.y, ACCOUNT)
        self.contracts = SimpleNamespace(did_registry=REGISTRY)
        self.done, self.calls = [], []

    def get_account_state(self, _address):
        return SimpleNamespace(did="0x" + (did_hash(KEY.did).hex() if self.registered else "00" * 32))

    async def open(self):
        self.done.append("open")

    async def registration_call(self, alias, step):
        if step == "commit":
            return calls.commit(REGISTRY, commitment(did_hash(KEY.did), alias_hash(alias), ACCOUNT, SECRET))
        return calls.register(REGISTRY, KEY.x, KEY.y, alias=alias, secret=SECRET if alias else bytes(32))

    async def prepared(self, call):
        self.calls.append(call)
        if call[2][:4] == COMMIT:
            return "commitment"
        outcome = self.outcomes.pop(0)
        if outcome:
            raise outcome
        return "registration"

    async def signed(self, operation):
        return operation

    def hash(self, operation):
        return operation.encode().ljust(32, b"\0")

    async def send(self, operation):
        self.done.append(operation)

    async def wait(self, operation_hash, _within_s=0):
        self.done.append("wait " + operation_hash.rstrip(b"\0").decode())
        return SimpleNamespace(transaction_hash=b"\x0a" * 32, block_number=9)

    async def next_block(self, after, _within_s):
        self.done.append(f"block above {after}")
        return (after or 8) + 1


def register(account, channel="handle", identifier="Ada", **noted):
    notes = ProgressStore(None, KEY.did, identifier, channel)
    if noted:
        notes.note(**noted)

    async def tell(_step):
        pass

    run(ChainRegistration(Coroutines(account), account, notes, tell).run(KEY.did))
    return notes.progress


def test_a_sponsor_that_commits_leaves_one_operation():
    account = Account([""])
    noted = register(account)
    assert account.done == ["open", "registration", "wait registration"]
    assert (noted.tx_hash, noted.block_number, noted.smart_account) == ("0x" + "0a" * 32, 9, ACCOUNT)


@pytest.mark.parametrize("lack", [NOT_COMMITTED, EXPIRED, SILENT])
def test_what_was_not_committed_to_is_committed_to_first(lack):
    account = Account([lack, ""])
    register(account)
    assert account.done == ["open", "commitment", "wait commitment", "registration", "wait registration"]
    expected = commitment(did_hash(KEY.did), alias_hash("ada"), ACCOUNT, SECRET)
    assert account.calls[1] == calls.commit(REGISTRY, expected)
    assert account.calls[2] == calls.register(REGISTRY, KEY.x, KEY.y, alias="ada", secret=SECRET)


def test_a_new_commitment_waits_for_the_next_block_and_is_not_posted_twice():
    account = Account([NOT_COMMITTED, TOO_NEW, NOT_COMMITTED, ""])
    register(account)
    assert account.done[1:5] == ["commitment", "wait commitment", "block above 9", "block above 10"]


def test_somebody_elses_commitment_of_the_newest_block_is_waited_for():
    account = Account([TOO_NEW, ""])
    register(account)
    assert account.done[1:2] == ["block above None"]


@pytest.mark.parametrize(("lack", "posted"), [(NOT_COMMITTED, False), (EXPIRED, True)])
def test_an_interrupted_attempts_commitment_serves_unless_it_is_over(lack, posted):
    account = Account([lack, ""])
    register(account, commitment_operation="0x" + b"commitment".ljust(32, b"\0").hex())
    assert ("commitment" in account.done) == posted
    assert "wait commitment" in account.done


@pytest.mark.parametrize("error", [TAKEN, OperationFailed("refused (AA25 invalid account nonce)")])
def test_any_other_refusal_ends_it_at_once(error):
    account = Account([error])
    with pytest.raises(OperationFailed) as caught:
        register(account)
    assert caught.value is error
    assert account.done == ["open"]


@pytest.mark.parametrize("lack", [NOT_COMMITTED, SILENT])
def test_an_address_needs_no_commitment(lack):
    account = Account([lack])
    with pytest.raises(OperationFailed):
        register(account, "email", "ada@example.org")
    assert account.calls == [calls.register(REGISTRY, KEY.x, KEY.y)]


@pytest.mark.parametrize("text", ["", "a b", "x" * 65, "\u202eada"])
def test_no_handle_no_alias(text):
    with pytest.raises(ValueError, match="handle"):
        canonical_handle(text)


async def test_the_secret_is_the_vaults_own_so_that_another_device_can_continue(tmp_path):
    async with Device(tmp_path / "one") as one, Device(tmp_path / "two") as two:
        await one.made()
        made = [await registration_calls(one.vault)]
        await two.vault.unlock(DEVICE_KEY, one.store.load().sealed)
        made.append(await registration_calls(two.vault))
        did, address = one.store.dids()[0], (await one.vault.derive_address()).address
    (registry, _, register_data), (_, _, commit_data) = made[0]
    secret = decode_call("register(uint256,uint256,uint256,bytes32,bytes32,string)", register_data)[4]
    expected = commitment(did_hash(did), alias_hash("ada"), address, secret)
    assert decode_call("commit(bytes32)", commit_data) == (expected,)
    assert (made[0], registry.lower()) == (made[1], REGISTRY.lower())
    assert any(secret)


async def registration_calls(vault):
    account = SmartAccount(None, vault, None, None, None)
    account.contracts = ContractSet.from_json(DEFAULT_CONTRACT_SET)
    account.key = SimpleNamespace(address=(await vault.derive_address()).address)
    return [await account.registration_call("ada", "register"), await account.registration_call("ada", "commit")]
