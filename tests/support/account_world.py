"""A vault's account, and a fake service that knows the account."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.support.running_service import Coroutines

from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import AccountKey, account_of
from holdfast.client.types.service import AccountState, IndexerDid
from holdfast.wire.encoding import to_base64url
from holdfast.wire.keccak import checksum_address
from holdfast.world.software_key import SoftwareKey

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST, NEW = SoftwareKey.generate(), SoftwareKey.generate()
PREDICTED, HANDED = checksum_address(b"\x01" * 20), checksum_address(b"\x02" * 20)
NOTHING = AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")


def obeying(key: SoftwareKey, nonce: str = "1") -> AccountState:
    return AccountState(nonce=nonce, did="0x" + "00" * 32, is_active=True, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


class AccountWorld:
    """A fake service: `states` maps addresses to account states; the indexer reports the first DID's controller."""

    def __init__(
        self,
        states: dict[str, AccountState],
        controller: str | None = None,
        error: Exception | None = None,
        listed: Sequence[str] = (),
        did: str = FIRST.did,
    ) -> None:
        self.states, self.controller, self.error = states, controller, error
        self.listed, self.did = listed, did
        self.asked: list[Any] = []

    def query(self) -> SimpleNamespace:
        point = b"\x04" + NEW.x.to_bytes(32) + NEW.y.to_bytes(32)
        return SimpleNamespace(did=self.did, verification_methods=[SimpleNamespace(public_key=to_base64url(point))])

    def get_smart_account_address(self, _x: object, _y: object) -> str:
        return PREDICTED

    def get_account_state(self, address: str) -> AccountState:
        return self.states.get(address, NOTHING)

    def indexer_did(self, hashed: str) -> IndexerDid:
        self.asked.append(hashed)
        if self.error:
            raise self.error
        return IndexerDid(found=self.controller is not None, controller=self.controller, active=True)

    def indexer_accounts(self, query: object) -> dict[str, Any]:
        self.asked.append(query)
        return {"accounts": [{"account_address": address} for address in self.listed], "next_cursor": None}

    def key(self) -> AccountKey:
        there: Any = Coroutines(self)
        return run(account_of(there, there))
