"""Two devices of a person on a chain, each a vault with its own key, and what tests do with the account of one."""

from contextlib import contextmanager
from functools import partial

from tests.support.payments import new_vault, payment, someone

import holdfast
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.client.storage.vault_store import VaultStore

add, remove = (partial(Change, kind) for kind in (ChangeKind.ADD_OWNER, ChangeKind.REMOVE_OWNER))


@contextmanager
def person(service, folder, gas=None):
    """A client of the service, with a new vault."""
    with (
        VaultStore(directory=folder) as store,
        new_vault(store) as vault,
        holdfast.Client(service.base_url, vault=vault, timeout=60, gas=gas or holdfast.GasPolicy()) as made,
    ):
        yield made


class Device:
    """A person's device: a vault with its own key, and a client of the chain's service."""

    def __init__(self, chain, folder):
        self.chain, self._store = chain, VaultStore(directory=folder)
        self.vault = new_vault(self._store)
        own = self.vault.own_key()
        self.signer = own.x.to_bytes(32) + own.y.to_bytes(32)
        self.key = (own.x, own.y)

    @contextmanager
    def client(self, account=None):
        with holdfast.Client(self.chain.base_url, vault=self.vault, timeout=60, account=account) as made:
            yield made

    def funded(self):
        """Give the account money, and return its address."""
        with self.client() as client:
            account = client.smart_account_address()
        self.chain.give(account, 10_000_000)
        return account

    def pays(self, account):
        payee = someone()
        with self.client(account) as client:
            client.pay(payment(self.chain, payee, 1_000, chain_id=client.contracts().chain_id))
        assert self.chain.usdc_of(payee) == 1_000

    def close(self):
        self.vault.close()
        self._store.close()


@contextmanager
def two_devices(chain, folder):
    pair = Device(chain, folder / "first"), Device(chain, folder / "second")
    yield pair
    for device in pair:
        device.close()


def change(client, *changes):
    """Sign changes and bring them to the chain."""
    signed = client.sign_account_changes(changes)
    assert client.bring_account_changes([signed]).applied == 1
    return signed
