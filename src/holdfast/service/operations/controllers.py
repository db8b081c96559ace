"""Checks whether the account that registered a `did:new` on chain belongs to the DID's key (docs/decisions/0009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.contracts.addresses import DID_REGISTRY
from holdfast.rules import abi
from holdfast.wire.abi import WORD
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import did_of_key

if TYPE_CHECKING:
    from holdfast.service.upstreams.chain_rpc import ChainReader

_METHOD = "did:new:"


@dataclass(frozen=True, slots=True)
class Controllers:
    """Checks controllers.

    Holdfast's registry accepts a `did:new` only from the account of the DID's key, whose address the registry computes.
    The registry's address follows from its code (CREATE2), so no other code can be at that address. Other registries
    may accept other accounts. With other registries, the account must contain the DID's key and have the address that
    the factory computes for it.
    """

    chain: ChainReader
    registry: bytes
    factory: str

    def show_the_key(self, did: str) -> bool:
        """Return whether `may_hold` shows that the DID's own key registered it, which only a `did:new` can."""
        return did.startswith(_METHOD)

    async def may_hold(self, did: str, controller: bytes) -> bool:
        """Return whether `controller` is the account of the DID's key. Raises RpcError."""
        if not self.show_the_key(did) or self.registry == from_hex(DID_REGISTRY):
            return True
        answer = await self.chain.client.eth_call("0x" + controller.hex(), abi.PUBLIC_KEY, at_least=0)
        if len(answer) != 2 * WORD:
            return False  # not a Holdfast account
        x, y = int.from_bytes(answer[:WORD]), int.from_bytes(answer[WORD:])
        return did_of_key(x, y) == did and await self._account_of(x, y) == controller

    async def _account_of(self, x: int, y: int) -> bytes | None:
        answer = await self.chain.client.eth_call(self.factory, abi.encode_get_address(x, y, 0))
        try:
            return abi.decode_address(answer)
        except abi.MalformedAnswer:
            return None
