"""What the scenario `gas` must know about a kind of account: how it is created, pays and signs. Here is ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import calls
from holdfast.chain.account_calls import SignedChanges, apply_changes
from holdfast.chain.account_messages import Change, ChangeKind, changes_digest
from holdfast.chain.assertions import encode_assertion
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.signers import by_name, p256_signer
from holdfast.world.anvil import CHAIN_ID

if TYPE_CHECKING:
    from bench.account_keys import Assertion, Key
    from bench.gas_chain import GasChain
    from holdfast.chain.entry_points import EntryPoint
    from holdfast.chain.user_operations import UserOperation

NOBODY = "0x" + "00" * 20


@dataclass
class Kind(ABC):
    """One maker's account with one passkey."""

    name: str
    entry_points: tuple[EntryPoint, ...]
    factory: str = NOBODY

    @abstractmethod
    def creation(self, key: Key) -> tuple[str, tuple[object, ...]]:
        """Return the factory's function that creates the account of a key and returns its address; its arguments."""

    @abstractmethod
    def execution(self, call: calls.Call) -> bytes:
        """Return the call data of an operation that makes one call."""

    @abstractmethod
    def signature(self, key: Key, digest: bytes) -> bytes:
        """Return the passkey's signature of an operation's digest."""

    async def digest(self, chain: GasChain, operation: UserOperation, entry_point: EntryPoint) -> bytes:  # noqa: ARG002
        """Return what the passkey signs: the hash that accounts receive from the entry point; Safe asks `chain`."""
        return operation_hash(operation, entry_point=entry_point.address, chain_id=CHAIN_ID)

    def first(self) -> Kind:
        """Return who signs the operation that creates the account."""
        return self

    @abstractmethod
    async def prepare(self, chain: GasChain) -> None:
        """Deploy what all accounts of this kind share."""

    def further(self, account: str, key: Key) -> bytes:  # noqa: ARG002 - ours needs both
        """Return the call data that sets what is not part of an account's creation, or nothing."""
        return b""


def encoded(assertion: Assertion) -> bytes:
    """Return an assertion in the form that our account and OpenZeppelin's share."""
    return encode_assertion(*astuple(assertion))


@dataclass
class Holdfast(Kind):
    """Our account: its vault's key or a passkey signs, the primary key's or a second owner's."""

    passkey: bool = False
    second: Key | None = None

    def creation(self, key: Key) -> tuple[str, tuple[object, ...]]:
        return "createAccount(uint256,uint256,uint256)", (*key.point, 0)

    def execution(self, call: calls.Call) -> bytes:
        return calls.execute(call)

    def signature(self, key: Key, digest: bytes) -> bytes:
        by = self.second or key
        signature = encoded(by.asserts(digest)) if self.passkey else by.sign(digest)
        return signature if self.second is None else by_name(p256_signer(*by.point), signature)

    def first(self) -> Kind:
        return replace(self, second=None)

    async def prepare(self, chain: GasChain) -> None:  # noqa: ARG002 - the chain has our contracts
        self.factory = ADDRESSES["AppFactory"]

    def further(self, account: str, key: Key) -> bytes:
        if self.second is None:
            return b""
        changes = [Change(ChangeKind.ADD_OWNER, p256_signer(*self.second.point))]
        signed = SignedChanges(account, 0, tuple(changes), key.sign(changes_digest(account, 0, changes)))
        _, _, data = apply_changes(signed)
        return data
