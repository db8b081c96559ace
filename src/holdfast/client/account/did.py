"""The client's methods for its DID at the registry: state, metadata, aliases and controller (docs/contracts.md)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import did_calls
from holdfast.chain.abi import call_data
from holdfast.chain.account_calls import NOBODY
from holdfast.chain.calls import commit, register_alias
from holdfast.chain.contracts import commitment
from holdfast.client.account.methods import AccountMethods
from holdfast.client.flows.accounts import address_in
from holdfast.client.flows.chain_registration import prepared_claim
from holdfast.client.flows.failures import chain_errors
from holdfast.client.handles import canonical_handle
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.calls import Call


@dataclass(frozen=True, slots=True)
class RegisteredDid:
    """What the registry says about a DID.

    Attributes:
        did: the DID.
        controller: the account that may change it; None if it is not on the chain.
        active: whether it is active; no one resolves an inactive DID.
        metadata: the CID of its metadata, or an empty text.
        proposed: the account that may accept to become its controller.
    """

    did: str
    controller: str | None
    active: bool
    metadata: str
    proposed: str | None


@dataclass(frozen=True, slots=True)
class RegisteredAlias:
    """What the registry says about an alias.

    Attributes:
        alias: the handle in its canonical form.
        did_hash: the hash of the DID that it leads to, in hex; None if the alias is free.
        controller: the account that controls the DID.
        active: whether the alias is active.
    """

    alias: str
    did_hash: str | None
    controller: str | None
    active: bool


class DidMethods(AccountMethods):
    """Methods that change a DID as its controller: the client's account. Each returns the operation's hash.

    Each raises OperationFailed if the registry refuses, for example because the account is not the controller.
    """

    async def registered_did(self, did: str | None = None) -> RegisteredDid:
        """Return what the registry says about a DID, by default the vault's. Raises NetworkError."""
        named = await self._did(did)
        account, chain = await self._chain()
        registry, about = account.contracts.did_registry, did_hash(named)
        with chain_errors():
            found = did_calls.read_did(await chain.eth_call(registry, call_data("getDid(bytes32)", about)))
            answer = await chain.eth_call(registry, call_data("proposedController(bytes32)", about))
            return RegisteredDid(named, *found, did_calls.read_proposed(answer))

    async def registered_alias(self, alias: str) -> RegisteredAlias:
        """Return what the registry says about an alias. Raises NetworkError, and ValueError for an invalid handle."""
        name = canonical_handle(alias)
        account, chain = await self._chain()
        data = call_data("getAlias(bytes32)", alias_hash(name))
        with chain_errors():
            return RegisteredAlias(
                name, *did_calls.read_alias(await chain.eth_call(account.contracts.did_registry, data))
            )

    async def set_did_active(
        self, did: str | None = None, *, active: bool, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Deactivate a DID, or activate it again. While it is inactive, nothing else of it can be changed."""
        named = await self._did(did)
        return await self._changed(
            lambda registry: did_calls.set_did_active(registry, named, active=active), on_progress
        )

    async def set_did_metadata(
        self, cid: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Set the CID of a DID's metadata, of at most 256 bytes; an empty text removes it."""
        named = await self._did(did)
        return await self._changed(lambda registry: did_calls.set_metadata(registry, named, cid), on_progress)

    async def propose_controller(
        self, address: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Let an account become a DID's controller, once that account accepts it; the zero address takes it back."""
        to = address if address == NOBODY else address_in(address, "address")
        named = await self._did(did)
        return await self._changed(lambda registry: did_calls.change_controller(registry, named, to), on_progress)

    async def accept_controller(self, did: str, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Become the controller of a DID whose controller has proposed this account, which controls no other DID."""
        return await self._changed(lambda registry: did_calls.accept_controller(registry, did), on_progress)

    async def set_alias_active(
        self, alias: str, *, active: bool, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Deactivate an alias of a DID that this account controls, or activate it again."""
        name = canonical_handle(alias)
        return await self._changed(
            lambda registry: did_calls.set_alias_active(registry, name, active=active), on_progress
        )

    async def register_alias(
        self, alias: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Give a DID one more alias on the chain, in two operations: a commitment, and a block later the claim."""
        account, named, name = await self._opened(), await self._did(did), canonical_handle(alias)
        await account.require_free(name)
        registry, secret = account.contracts.did_registry, secrets.token_bytes(32)
        committed = commitment(did_hash(named), alias_hash(name), account.key.address, secret)
        claim = register_alias(registry, name, named, secret)
        async with self._operating:
            receipt = await self._mined(account, account.prepared(commit(registry, committed)), on_progress)
            prepared = prepared_claim(account, claim, receipt.block_number)
            return to_hex((await self._mined(account, prepared, on_progress)).operation_hash)

    async def _changed(self, call: Callable[[str], Call], on_progress: Callable[[str], object] | None) -> str:
        account = await self._opened()
        return await self._operated(account, call(account.contracts.did_registry), on_progress)

    async def _did(self, did: str | None) -> str:
        return (await self.vault.query()).did if did is None else did
