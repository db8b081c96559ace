"""An account where two owners must sign: payments and changes with a vault, a passkey or an address as second key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.payments import new_vault, payment, someone
from tests.support.software_authenticator import SoftwareAuthenticator

import holdfast
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.signers import p256_signer
from holdfast.client.account.second_keys import key_of_address, key_of_passkey, key_of_vault
from holdfast.client.flows.second_key import SecondKey, SecondKeyMissing
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chain_service import ChainService

    from holdfast.client.blocking.vault import Vault

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[tuple[Vault, Vault]]:
    stores = VaultStore(directory=tmp_path / "1"), VaultStore(directory=tmp_path / "2")
    with stores[0], stores[1], new_vault(stores[0]) as mine, new_vault(stores[1], "bob") as theirs:
        yield mine, theirs


def signer_of(vault: Vault) -> bytes:
    own = vault.own_key()
    return p256_signer(own.x, own.y)


def passkey() -> SecondKey:
    device = SoftwareAuthenticator()
    authenticator = Authenticator("http://localhost:8787", device)
    made = authenticator.create_passkey(Person("ada")).credential_id
    point = device.public_key(from_base64url(made)).public_numbers()
    return key_of_passkey(p256_signer(point.x, point.y), lambda digest: authenticator.assertion(digest, (made,)))


def test_every_kind_of_second_key_pays_and_changes_owners(chain: ChainService, vaults: tuple[Vault, Vault]) -> None:
    mine, theirs = vaults
    payee, keys = someone(), [key_of_vault(theirs), passkey(), key_of_address(PrivateKey(b"\7" * 32))]

    def client(second: SecondKey) -> holdfast.Client:
        return holdfast.Client(chain.base_url, vault=mine, timeout=60, second_key=second)

    with client(SecondKey()) as alone:
        chain.give(alone.smart_account_address(), 10_000_000)
        adds = [Change(ChangeKind.ADD_OWNER, key.signer) for key in keys]
        alone.bring_account_changes([alone.sign_account_changes(adds)])
        for amount in (50, 100):  # the second ends the first
            alone.allow_alone([(chain.usdc, amount, 0)])
        two = alone.sign_account_changes([Change(ChangeKind.SET_THRESHOLD, value=2)])
        alone.bring_account_changes([two])
        alone.pay(payment(chain, payee, 100))  # by the permission
        for refused in (
            lambda: alone.pay(payment(chain, payee, 1)),
            lambda: alone.sign_account_changes([Change(ChangeKind.SET_THRESHOLD, value=1)]),
        ):
            with pytest.raises(SecondKeyMissing, match=keys[0].signer.hex()) as error:
                refused()
            assert set(error.value.keys) == {key.signer for key in keys}
        assert [each.permission.allowance for each in alone.account_permissions()] == [100]
    assert chain.usdc_of(payee) == 100
    for key in keys:
        with client(key) as both:
            both.pay(payment(chain, payee, 1_000))
    assert chain.usdc_of(payee) == 3_100
    with client(keys[1]) as both:
        both.bring_account_changes([both.sign_account_changes([Change(ChangeKind.SET_THRESHOLD, value=1)])])
        assert both.account_view().settings.threshold == 1
