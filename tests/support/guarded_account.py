"""An account on a fake chain of which the service can be a guardian, and its DID with verified addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.api import Api
from tests.support.curves import X, Y
from tests.support.store_cases import claims, registration
from tests.support.upstreams import rpc_results

from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.signers import key_id
from holdfast.rules.abi import GET_DID
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.recovery import parse_guardian_keys
from holdfast.service.settings.secrets import Secrets
from holdfast.wire.abi import selector
from holdfast.wire.keccak import did_hash

SECRET = "11" * 32
KEYS = parse_guardian_keys(SECRET)
SECRETS = Secrets((b"k" * 32,), generated=False, guardian_keys=KEYS)
ACCOUNT = "0x52908400098527886E0F7030069857D2E4169EE7"
DID = "did:new:0x" + "ab" * 32
NEW_OWNER = X + Y[2:]
_SETTINGS = selector("accountSettings()").hex()
_PENDING = selector("pendingRecovery()").hex()
_KEY_STATE = selector("keyState(bytes32)").hex()


def words(*values: int | bytes) -> str:
    return "0x" + "".join((it if isinstance(it, bytes) else it.to_bytes(32)).hex() for it in values)


@dataclass
class GuardedAccount:
    nonce: int = 3
    did: str = DID
    guardians: list[bytes] = field(default_factory=lambda: [key.signer for key in KEYS])
    ready_at: int = 0
    finished: int = 0
    asked: list[str] = field(default_factory=list)
    asked_of: list[str] = field(default_factory=list)

    def rpc(self, **results: Any) -> Any:
        return rpc_results({"eth_call": self._called, **results})

    def _called(self, call: dict[str, str], _block: str) -> str:
        data = call["data"][2:]
        if call["to"].lower() == ADDRESSES["AccountHelper"].lower():
            return words(1, did_hash(self.did), 1, 5, 6)
        if call["to"].lower() == ADDRESSES["DIDRegistry"].lower():
            named = data == (GET_DID + did_hash(self.did)).hex()
            return words(bytes.fromhex(ACCOUNT[2:]).rjust(32, b"\0") if named else 0, 1, 96, 0)
        self.asked_of.append(call["to"].lower())
        if call["to"].lower() != ACCOUNT.lower():
            return "0x"
        self.asked.append(data[:8])
        if data == _SETTINGS:
            return words(0, self.finished, 1, 1, len(self.guardians), 1, 3600, self.nonce)
        if data == _PENDING:
            return words(self.ready_at, 1 if self.ready_at else 0, 7 if self.ready_at else 0)
        known = [key_id(signer).hex() for signer in self.guardians]
        assert data[:8] == _KEY_STATE
        return words(0, 0, int(data[8:] in known))


async def has_addresses(api: Api, *addresses: str, did: str = DID, signed: bool = True, account: str = ACCOUNT) -> None:
    for address in addresses:
        identifier = Identifier(Channel.EMAIL, address, address)
        given = {"identifier": identifier, "did": did, "signed": signed, "smart_account": account, "now": api.clock()}
        await api.service.store.register(registration(credential_id=f"c-{account}-{address}", **given), claims)
