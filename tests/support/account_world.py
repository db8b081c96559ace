"""A vault's account, and a fake service that knows the account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.running_service import Coroutines

from holdfast.chain.contracts import ADDRESSES, ENTRY_POINT_V07, predict_account
from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import AccountKey, account_of
from holdfast.client.types.service import AccountState, ContractSet
from holdfast.client.vault.own_key import OwnKey, key_of
from holdfast.world.software_key import SoftwareKey

OWN, OTHER = SoftwareKey.generate(), SoftwareKey.generate()
ACCOUNT = predict_account(OWN.x, OWN.y)
NOTHING = AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")
CONTRACTS = ContractSet(
    chain_id=84532,
    entry_point=ENTRY_POINT_V07,
    did_registry=ADDRESSES["DIDRegistry"],
    account_helper=ADDRESSES["AccountHelper"],
    session_sbt=ADDRESSES["SessionSBT"],
    app_factory=ADDRESSES["AppFactory"],
)


def obeying(key: SoftwareKey, nonce: str = "1") -> AccountState:
    return AccountState(nonce=nonce, did="0x" + "00" * 32, is_active=True, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


class AccountWorld:
    """A fake service whose `states` maps addresses to account states, and a vault with `keys` and the DID of `OWN`."""

    def __init__(
        self, states: dict[str, AccountState], keys: Sequence[SoftwareKey] = (OWN,), curve: str = "P-256"
    ) -> None:
        self.states, self.keys, self.curve = states, keys, curve

    def own_key(self) -> OwnKey:
        points = (f"04{key.x:064x}{key.y:064x}" for key in self.keys)
        return key_of(OWN.did, [{"curve": self.curve, "public_key": point} for point in points])

    def get_account_state(self, address: str) -> AccountState:
        return self.states.get(address, NOTHING)

    def key(self) -> AccountKey:
        there: Any = Coroutines(self)
        return run(account_of(there, CONTRACTS))
