"""viem and OpenZeppelin's SignatureChecker verify what accounts sign, also before an account exists."""

import re

import pytest
from tests.support.clean_tree import ROOT
from tests.support.payments import new_vault, payment, settled, someone
from tests.support.signature_verifiers import hashed, needs_viem, signed_by_wallet, verified

import holdfast
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_signatures import Text, TypedData
from holdfast.chain.signers import p256_signer
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import from_hex

pytestmark = [pytest.mark.timeout(600), needs_viem]
TEXT = "Grüße: sign in to shop.example"
ANOTHER = "Sign in to another.example"
TYPED = {
    "domain": {"name": "Shop", "version": "1", "chainId": 84532, "verifyingContract": "0x" + "c0" * 20},
    "types": {
        "Order": [{"name": "item", "type": "string"}, {"name": "buyer", "type": "Buyer"}],
        "Buyer": [{"name": "name", "type": "string"}],
    },
    "primaryType": "Order",
    "message": {"item": "lamp", "buyer": {"name": "Ada"}},
}
BOTH, VIEM_ALONE, NOBODY = (True, True), (True, False), (False, False)


@pytest.fixture
def vault(tmp_path):
    with VaultStore(directory=tmp_path / "vault") as store, new_vault(store) as made:
        yield made


@pytest.fixture
def client(chain, vault):
    with holdfast.Client(chain.base_url, vault=vault, timeout=60) as made:
        yield made


def order():
    read = hashed(TYPED)
    return TypedData(from_hex(read["separator"]), from_hex(read["contents"]), read["type"])


def create(chain, client):
    """Have the account created by its first payment."""
    account = client.smart_account_address()
    chain.give(account, 10)
    client.pay(payment(chain, someone(), 10))
    settled(client, account)
    return account


def test_an_account_signs_before_it_exists_and_afterwards(chain, client):
    early = client.account_signature(Text(TEXT))
    # OpenZeppelin's checker asks for the account's code, and it has no code.
    assert verified(chain.rpc_url, client.smart_account_address(), early, text=TEXT) == VIEM_ALONE
    account = create(chain, client)
    assert verified(chain.rpc_url, account, early, text=TEXT) == VIEM_ALONE
    text, typed = client.account_signature(Text(TEXT)), client.account_signature(order())
    assert len(text) == 64 and typed[64:].startswith(order().separator)
    assert verified(chain.rpc_url, account, text, text=TEXT) == BOTH
    assert verified(chain.rpc_url, account, typed, typed=TYPED) == BOTH
    changed = {**TYPED, "message": {**TYPED["message"], "item": "house"}}
    assert verified(chain.rpc_url, account, typed, typed=changed) == NOBODY
    assert verified(chain.rpc_url, account, text, text=ANOTHER) == NOBODY


def test_a_second_owner_signs_by_name(chain, client, tmp_path):
    account = create(chain, client)
    with VaultStore(directory=tmp_path / "second") as store, new_vault(store, "second") as other:
        own = other.own_key()
        with holdfast.Client(chain.base_url, vault=other, timeout=60, account=account) as second:
            signed = client.sign_account_changes([Change(ChangeKind.ADD_OWNER, p256_signer(own.x, own.y))])
            client.bring_account_changes([signed])
            text, typed = second.account_signature(Text(TEXT)), second.account_signature(order())
    assert verified(chain.rpc_url, account, text, text=TEXT) == BOTH
    assert verified(chain.rpc_url, account, typed, typed=TYPED) == BOTH


def test_the_account_for_viem_in_the_documentation_signs():
    blocks = re.findall(r"```js\n(.*?)```", (ROOT / "docs" / "browser.md").read_text("utf-8"), re.DOTALL)
    (block,) = [one for one in blocks if "toAccount" in one]
    address = "0x" + "11" * 20
    assert signed_by_wallet(block, address, TEXT, TYPED) == {
        "address": address, "asked": [TEXT, hashed(TYPED)], "signatures": ["0x01", "0x02"],
    }  # fmt: skip
