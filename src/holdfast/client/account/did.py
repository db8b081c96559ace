"""The client's methods for its DID at the registry: state, metadata, aliases and controller (docs/contracts.md)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.calls import commit
from holdfast.chain.contracts import commitment
from holdfast.client.account.methods import AccountMethods
from holdfast.client.flows.failures import chain_errors
from holdfast.client.handles import canonical_handle
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK_WITHIN_S = 30.0


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


class DidMethods(AccountMethods):
    """Methods that change a DID as its controller: the client's account. Each returns the operation's hash.

    Each raises OperationFailed if the registry refuses, for example because the account is not the controller.
    """

    async def registered_did(self, did: str | None = None) -> RegisteredDid:
        """Return what the registry says about a DID, by default the vault's. Raises NetworkError."""
        from eth_abi.abi import decode

        named = await self._did(did)
        account, chain = await self._chain()
        about = did_hash(named)
        with chain_errors():
            found = await chain.eth_call(account.contracts.did_registry, call_data("getDid(bytes32)", about))
            proposed = await chain.eth_call(
                account.contracts.did_registry, call_data("proposedController(bytes32)", about)
            )
        controller, active, metadata = decode(["address", "bool", "bytes"], found)
        (next_one,) = decode(["address"], proposed)
        return RegisteredDid(named, _known(controller), active, metadata.decode("utf-8", "replace"), _known(next_one))

    async def set_did_active(
        self, did: str | None = None, *, active: bool, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Deactivate a DID, or activate it again. While it is inactive, nothing else of it can be changed."""
        return await self._registry(did, on_progress, "setDidActive(bytes32,bool)", active)

    async def set_did_metadata(
        self, cid: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Set the CID of a DID's metadata, of at most 256 bytes; an empty text removes it."""
        return await self._registry(did, on_progress, "setMetadata(bytes32,string)", cid)

    async def propose_controller(
        self, address: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Let an account become a DID's controller, once that account accepts it; the zero address takes it back."""
        return await self._registry(did, on_progress, "changeController(bytes32,address)", address)

    async def accept_controller(self, did: str, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Become the controller of a DID whose controller has proposed this account, which controls no other DID."""
        return await self._registry(did, on_progress, "acceptController(bytes32)")

    async def set_alias_active(
        self, alias: str, *, active: bool, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Deactivate an alias of a DID that this account controls, or activate it again."""
        account = await self._opened()
        data = call_data("setAliasActive(bytes32,bool)", alias_hash(canonical_handle(alias)), active)
        return await self._operated(account, (account.contracts.did_registry, 0, data), on_progress)

    async def register_alias(
        self, alias: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Give a DID one more alias on the chain, in two operations: a commitment, and a block later the claim."""
        account = await self._opened()
        registry, owner = account.contracts.did_registry, account.key.address
        about, claimed, secret = (
            did_hash(await self._did(did)),
            alias_hash(canonical_handle(alias)),
            secrets.token_bytes(32),
        )
        await self._operated(account, commit(registry, commitment(about, claimed, owner, secret)), on_progress)
        await account.next_block(None, _BLOCK_WITHIN_S)
        data = call_data("registerAlias(bytes32,bytes32,bytes32)", claimed, about, secret)
        return await self._operated(account, (registry, 0, data), on_progress)

    async def _registry(
        self, did: str | None, on_progress: Callable[[str], object] | None, function: str, *values: object
    ) -> str:
        account = await self._opened()
        data = call_data(function, did_hash(await self._did(did)), *values)
        return await self._operated(account, (account.contracts.did_registry, 0, data), on_progress)

    async def _did(self, did: str | None) -> str:
        return (await self.vault.query()).did if did is None else did


def _known(address: str) -> str | None:
    return address if any(from_hex(address)) else None
