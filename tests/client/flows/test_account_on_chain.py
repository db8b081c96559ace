"""Owners, guardians and permissions of an account on two local chains, through the client's public interface."""

from __future__ import annotations

import asyncio
import functools
import secrets
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.support.chain_service import ChainService, chain_service
from tests.support.fresh_chain import Chain, run_anvil
from tests.support.payments import new_vault, payment, someone

import holdfast
from holdfast.chain.account_calls import (
    Permission,
    SignedChanges,
    apply_changes,
    apply_together,
    create_account_with,
    spend,
)
from holdfast.chain.account_candidates import accepted
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_reads import Created, Owner, owner_state, settings_of
from holdfast.chain.contracts import ADDRESSES, DETERMINISTIC_DEPLOYER, PRODUCTION, load
from holdfast.chain.errors import RpcError
from holdfast.chain.service_guardian import ServiceAlone
from holdfast.chain.signers import key_id
from holdfast.client.account.spending import SPEND_COMMAND, SpendingTerms
from holdfast.client.account.values import signed_from_text, signed_to_text
from holdfast.client.flows.failures import OperationFailed, PaymentRefused
from holdfast.client.http.refusals import RecoveryNotFound, RecoveryWaits
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.abi import selector
from holdfast.world.tools import find_tools

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.chain.calls import Call

pytestmark = pytest.mark.timeout(600)
HOUR = 3600


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    """A separate chain, because the tests move its clock."""
    with chain_service(tmp_path_factory.mktemp("world")) as service:
        yield service


@pytest.fixture(scope="module")
def other_chain() -> Iterator[Chain]:
    """A second chain with another ID, the contracts, and neither bundler nor service."""
    with run_anvil(asyncio.run(find_tools(lambda _: None)), "--chain-id", "31337") as fresh:
        for name in PRODUCTION:
            fresh.transact(DETERMINISTIC_DEPLOYER, load(name).deployment)
        yield fresh


class Device:
    """A person's device: a vault with its own key."""

    def __init__(self, chain: ChainService, folder: Path) -> None:
        self._chain, self._store = chain, VaultStore(directory=folder)
        self.vault = new_vault(self._store)
        own = self.vault.own_key()
        self.signer = own.x.to_bytes(32) + own.y.to_bytes(32)
        self.key = (own.x, own.y)

    @contextmanager
    def client(self, account: str | None = None) -> Iterator[holdfast.Client]:
        with holdfast.Client(self._chain.base_url, vault=self.vault, timeout=60, account=account) as made:
            yield made

    def close(self) -> None:
        self.vault.close()
        self._store.close()


@pytest.fixture
def devices(chain: ChainService, tmp_path: Path) -> Iterator[tuple[Device, Device]]:
    pair = Device(chain, tmp_path / "first"), Device(chain, tmp_path / "second")
    yield pair
    for device in pair:
        device.close()


def funded(chain: ChainService, device: Device) -> str:
    with device.client() as client:
        account = client.smart_account_address()
    chain.give(account, 10_000_000)
    return account


def change(client: holdfast.Client, *changes: Change) -> SignedChanges:
    signed = client.sign_account_changes(changes)
    brought = client.bring_account_changes([signed])
    assert (brought.chain_id, brought.applied) == (84532, 1)
    return signed


def add(signer: bytes) -> Change:
    return Change(ChangeKind.ADD_OWNER, signer)


def remove(signer: bytes) -> Change:
    return Change(ChangeKind.REMOVE_OWNER, signer)


def pays(chain: ChainService, device: Device, account: str) -> None:
    payee = someone()
    with device.client(account) as client:
        client.pay(payment(chain, payee, 1_000))
    assert chain.usdc_of(payee) == 1_000


def on_other(chain: Chain, account: str, signer: bytes) -> bool:
    found: tuple[bool, int, bool] = chain.run(lambda rpc: owner_state(rpc, account, signer))
    return found[0]


def test_a_second_device_pays_and_revokes_the_first_on_two_chains_by_one_signature(
    chain: ChainService, other_chain: Chain, devices: tuple[Device, Device]
) -> None:
    first, second = devices
    account = funded(chain, first)
    with first.client() as client:
        before = client.account_view()
        assert (before.deployed, before.owners) == (False, (Owner(first.signer, 0, is_primary=True),))
        added = change(client, add(second.signer))  # the account's first operation, which also deploys it
        assert [owner.signer for owner in client.account_view().owners] == [first.signer, second.signer]
    pays(chain, second, account)
    with second.client(account) as client:
        removed = change(client, remove(first.signer))
        view = client.account_view()
        assert view.owners == (Owner(second.signer, 0, is_primary=True),)
        assert view.public_key == second.key
        history = client.account_history()
        assert history == [added, removed] == signed_from_text(signed_to_text(history))
        assert client.bring_account_changes(history).applied == 0
    pays(chain, second, account)
    with first.client() as client, pytest.raises(OperationFailed, match="controlled by another key"):
        client.pay(payment(chain, someone(), 1))
    # Anyone brings the same signatures to the other chain, by an ordinary transaction, with the deployment.
    to, _, data = create_account_with(ADDRESSES["AppFactory"], first.key, 0, history)
    other_chain.transact(to, data)
    assert not on_other(other_chain, account, first.signer)
    assert on_other(other_chain, account, second.signer)


def forged(account: str, sequence: int) -> SignedChanges:
    return SignedChanges(account, sequence, (add(secrets.token_bytes(64)),), secrets.token_bytes(100))


def test_forged_changes_in_front_hide_no_removal_of_a_stolen_key(
    chain: ChainService, other_chain: Chain, devices: tuple[Device, Device]
) -> None:
    first, second = devices
    account = funded(chain, first)
    lies = [forged(account, sequence) for sequence in range(2)]
    with first.client() as client:
        added = client.sign_account_changes([add(second.signer)])
    # Someone brings what is public, with forged changes after the arguments, where no contract reads them.
    create = functools.partial(create_account_with, ADDRESSES["AppFactory"], first.key, 0)
    chain.send(ADDRESSES["AppFactory"], create([added])[2] + b"".join(apply_changes(lie)[2] for lie in lies))
    with second.client(account) as client:
        removed = change(client, remove(first.signer))
        history = client.account_history()
    assert history == [lies[0], added, lies[1], removed]
    together = functools.partial(apply_together, account)
    assert other_chain.run(lambda rpc: accepted(rpc, history, create)) == [added, removed]
    other_chain.transact(*_sent(create([])))
    assert other_chain.run(lambda rpc: accepted(rpc, history, together)) == [added, removed]


def test_of_several_changes_the_chain_takes_the_owners(chain: ChainService, devices: tuple[Device, Device]) -> None:
    first, second = devices
    account = funded(chain, first)
    with first.client() as client:
        added = client.sign_account_changes([add(second.signer)])
        assert client.bring_account_changes([forged(account, 0), added]).applied == 1  # and creates the account
    with second.client(account) as client:
        removed = client.sign_account_changes([remove(first.signer)])
        assert client.bring_account_changes([forged(account, 1), removed, added, forged(account, 1)]).applied == 1
        assert client.account_view().owners == (Owner(second.signer, 0, is_primary=True),)
        with pytest.raises(OperationFailed, match="InvalidSignature"):
            client.bring_account_changes([forged(account, 2), forged(account, 2)])


def _sent(call: Call) -> tuple[str, bytes]:
    to, _, data = call
    return to, data


def test_changes_reach_a_chain_on_which_the_account_exists(
    chain: ChainService, other_chain: Chain, devices: tuple[Device, Device]
) -> None:
    first, second = devices
    account = funded(chain, first)
    to, _, data = create_account_with(ADDRESSES["AppFactory"], first.key, 0, [])
    other_chain.transact(to, data)
    with first.client() as client:
        signed = change(client, add(second.signer))
    other_chain.transact(*_sent(apply_changes(signed)))
    assert on_other(other_chain, account, second.signer)
    assert other_chain.run(lambda rpc: settings_of(rpc, account)).sequence == 1


def test_the_indexer_shows_changes_of_owners_and_recoveries(
    chain: ChainService, devices: tuple[Device, Device]
) -> None:
    first, second = devices
    account = funded(chain, first)
    with first.client() as client:
        change(client, add(second.signer))
        change(client, Change(ChangeKind.ADD_GUARDIAN, second.signer), Change(ChangeKind.SET_QUORUM, value=1))
    with second.client(account) as client:
        client.start_account_recovery([second.signer])
        client.cancel_account_recovery()
    wanted = ["AccountCreated", "OwnerAdded", "GuardianAdded", "RecoveryStarted", "RecoveryCancelled"]
    deadline = time.monotonic() + 60
    shown = events(chain, account)
    while [event["kind"] for event in shown] != wanted:
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
        shown = events(chain, account)
    owner = "0x" + key_id(second.signer)[12:].hex()
    assert [event["key_owner"].lower() for event in shown if "key_owner" in event] == [owner] * 2
    with second.client() as client:
        found = client.indexer_accounts({"key_owner": owner})["accounts"]
        own = client.smart_account_address()
    assert [each["account_address"] for each in found] == [account, own]


def events(chain: ChainService, account: str) -> list[dict[str, Any]]:
    answer = httpx.get(f"{chain.base_url}/api/indexer/api/events", params={"account": account}, timeout=30)
    found: list[dict[str, Any]] = answer.json()["events"]
    return found


def test_another_account_creates_the_account_with_its_changes(
    chain: ChainService, devices: tuple[Device, Device]
) -> None:
    first, second = devices
    account = funded(chain, first)
    with first.client() as client:
        assert client.account_origin() is None
        signed = client.sign_account_changes([add(second.signer)])
    with second.client(account) as client:
        with pytest.raises(OperationFailed, match="does not exist on this chain"):
            client.bring_account_changes([signed])
        origin = Created(*first.key, salt=0)
        assert client.bring_account_changes([signed], origin=origin).applied == 1
        assert client.account_origin() == origin
        assert [owner.signer for owner in client.account_view().owners] == [first.signer, second.signer]
    pays(chain, second, account)


def test_a_guardian_recovers_the_account_after_the_delay(chain: ChainService, devices: tuple[Device, Device]) -> None:
    lost, guardian = devices
    account = funded(chain, lost)
    with lost.client() as client:
        terms = (Change(ChangeKind.SET_QUORUM, value=1), Change(ChangeKind.SET_DELAY, value=HOUR))
        change(client, Change(ChangeKind.ADD_GUARDIAN, guardian.signer), *terms)
        assert client.account_view().guardians == (guardian.signer,)
    with guardian.client(account) as client:
        client.start_account_recovery([guardian.signer])
        recovery = client.account_view().recovery
        assert recovery is not None
        assert recovery.new_owners == (guardian.signer,)
        with pytest.raises(OperationFailed, match="TooEarly"):
            client.finish_account_recovery()
        chain.rpc("evm_increaseTime", HOUR + 1)
        chain.mine()
        client.finish_account_recovery()
        view = client.account_view()
        assert view.owners == (Owner(guardian.signer, 0, is_primary=True),)
        assert (view.recovery, view.guardians, view.settings.generation) == (None, (guardian.signer,), 1)
    pays(chain, guardian, account)


def test_an_owner_cancels_a_recovery(chain: ChainService, devices: tuple[Device, Device]) -> None:
    owner, guardian = devices
    account = funded(chain, owner)
    with owner.client() as client:
        change(client, Change(ChangeKind.ADD_GUARDIAN, guardian.signer), Change(ChangeKind.SET_QUORUM, value=1))
    with guardian.client(account) as client:
        client.start_account_recovery([guardian.signer])
    with owner.client() as client:
        assert client.account_view().recovery is not None
        client.cancel_account_recovery()
        assert client.account_view().recovery is None
    with guardian.client(account) as client, pytest.raises(OperationFailed, match="no recovery"):
        client.finish_account_recovery()


def test_a_permission_is_granted_listed_and_revoked(chain: ChainService, devices: tuple[Device, Device]) -> None:
    owner, app = devices
    funded(chain, owner)
    allowed: dict[str, Any] = {"token": chain.usdc, "allowance": 5_000, "period": HOUR, "start": int(time.time())}
    permission = Permission(key_id=key_id(app.signer), salt=secrets.randbits(64), **allowed)
    with owner.client() as client:
        client.grant_account_permission(permission)
        (granted,) = client.account_permissions()
        assert (granted.permission, granted.spent, granted.left) == (permission, 0, 5_000)
        client.revoke_account_permission(permission.id)
        assert client.account_permissions() == []


def test_an_app_spends_by_its_permission_while_the_persons_devices_are_off(
    chain: ChainService, devices: tuple[Device, Device]
) -> None:
    owner, app = devices
    account, payee = funded(chain, owner), someone()
    terms = SpendingTerms(to=app.vault.query().did, token=chain.usdc, allowance=5_000, period=HOUR, payee=payee)
    with owner.client() as client:
        allowed = client.allow_spending(terms)
    with app.client() as shop:
        for _ in range(2):
            shop.spend(allowed.container, payee, 2_000)
        assert chain.usdc_of(payee) == 4_000
        with pytest.raises(PaymentRefused, match="1000 of the permission are left"):
            shop.spend(allowed.container, payee, 1_001)
        with pytest.raises(PaymentRefused, match="does not allow"):
            shop.spend(allowed.container, someone(), 1)
    beyond = spend(account, allowed.permission, payee, 1_001)[2]
    entry_point = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
    with pytest.raises(RpcError, match=selector("LimitExceeded(uint256)").hex()):
        chain.rpc("eth_call", {"from": entry_point, "to": account, "data": f"0x{beyond.hex()}"}, "latest")
    with owner.client() as client:
        assert [(each.spent, each.left) for each in client.account_permissions()] == [(4_000, 1_000)]
        client.pay(payment(chain, payee, 1))  # the app's operations take no nonces from the owner
        with pytest.raises(PaymentRefused, match="audience"):
            client.spend(allowed.container, payee, 1)
        assert client.end_spending(allowed.permission.id)
        assert client.end_spending(allowed.permission.id) is None
    assert delegated(owner) == [(allowed.cid, True)]
    with app.client() as shop, pytest.raises(PaymentRefused, match="was revoked"):
        shop.spend(allowed.container, payee, 1)


def test_a_permission_that_the_chain_refuses_leaves_no_delegation(
    chain: ChainService, devices: tuple[Device, Device]
) -> None:
    owner, app = devices
    funded(chain, owner)
    terms = SpendingTerms(to=app.vault.query().did, token=chain.usdc, allowance=0)
    with owner.client() as client, pytest.raises(OperationFailed, match="InvalidPermission"):
        client.allow_spending(terms)
    assert [is_revoked for _, is_revoked in delegated(owner)] == [True]


def delegated(device: Device) -> list[tuple[str, bool]]:
    """Return the CIDs of the delegations to spend, and whether each is revoked."""
    rows = device.vault.exec("resource:delegations action:list").result or []
    return [(row["cid"], row["revoked_at"] is not None) for row in rows if row["command"] == SPEND_COMMAND]


def test_two_owners_sign_where_two_must(chain: ChainService, devices: tuple[Device, Device]) -> None:
    first, second = devices
    account = funded(chain, first)
    with first.client() as client:
        change(client, add(second.signer), Change(ChangeKind.SET_THRESHOLD, value=2))
        one = client.sign_account_changes([Change(ChangeKind.SET_THRESHOLD, value=1)])
    with second.client(account) as client:
        with pytest.raises(OperationFailed, match="two owners"):
            client.pay(payment(chain, someone(), 1))
        with pytest.raises(OperationFailed, match="InvalidSignature"):
            client.bring_account_changes([one])
        both = client.sign_account_changes(one.changes, cosigned=one)
        client.bring_account_changes([both])
        assert client.account_view().settings.threshold == 1
    pays(chain, second, account)


def _newest_code(chain: ChainService, to: str) -> str:
    texts = [file.read_text() for file in sorted((chain.data / "outbox").glob("*.eml"))]
    return [text.partition("Subject:")[2].split("\n")[0] for text in texts if f"To: {to}" in text][-1][-6:]


def test_the_service_is_a_guardian_and_alone_only_if_the_person_agrees(
    chain: ChainService, devices: tuple[Device, Device]
) -> None:
    lost, fresh = devices
    account, address = funded(chain, lost), f"{secrets.token_hex(5)}@example.com"
    with lost.client() as client:
        client.register(email=address, code=lambda _said: _newest_code(chain, address))
        (key,) = client.service_guardian_keys()
        chosen = (
            Change(ChangeKind.ADD_GUARDIAN, key),
            Change(ChangeKind.SET_QUORUM, value=1),
            Change(ChangeKind.SET_DELAY, value=HOUR),
        )
        with pytest.raises(ServiceAlone):
            client.sign_account_changes(chosen)
        signed = client.sign_account_changes(chosen, service_alone=True)
        assert client.bring_account_changes([signed]).applied == 1
    with fresh.client(account) as client:
        with pytest.raises(RecoveryNotFound):
            client.service_recovery_signature([fresh.signer])
        request = client.ask_service_recovery([fresh.signer], address)
        checked = client.check_recovery(request=request, code=_newest_code(chain, address))
        assert (checked.verified, checked.account) == (True, account)
        with pytest.raises(RecoveryWaits):
            client.service_recovery_signature([fresh.signer])
        with closing(sqlite3.connect(chain.data / "holdfast.db", timeout=30)) as database, database:
            database.execute("UPDATE recovery_requests SET ready_at = 0 WHERE request = ?", (request,))
        client.start_account_recovery([fresh.signer], [client.service_recovery_signature([fresh.signer])])
        chain.rpc("evm_increaseTime", HOUR + 1)
        chain.mine()
        client.finish_account_recovery()
        assert [owner.signer for owner in client.account_view().owners] == [fresh.signer]
    pays(chain, fresh, account)
