"""An account of another key, from which the vault's key spends by a permission."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.bundler import PLACEHOLDER_SIGNATURE
from holdfast.chain.signers import by_name
from holdfast.chain.user_operations import UserOperation
from holdfast.client.flows.failures import chain_errors
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.signed_operations import NONCES
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from holdfast.chain.calls import Call


class Spender(SmartAccount):
    """Sends the operations of one permission.

    They need a sponsor: the account pays no gas for a key that owns nothing. Their nonces have a separate key
    (ERC-4337), the first 24 bytes of the permission's ID, which the account demands: they never block the owners'.
    """

    permission_id = b""

    def of(self, permission_id: bytes) -> Spender:
        """Choose the permission. Call it before `open`."""
        self.permission_id = permission_id
        self._policy = replace(self._policy, sponsored=True, max_own_cost_wei=0)
        return self

    def _settle(self) -> None:
        super()._settle()
        self._slot = f"{self._slot}:{to_hex(self.permission_id)}"

    async def _paid(self, call: Call) -> UserOperation:
        self._signs_by_name = True
        nonce = await self._nonce(await self._mined_nonce(), call[2])
        operation = UserOperation(
            sender=from_hex(self.key.address),
            nonce=self._nonce_key * NONCES + nonce,
            call_data=call[2],
            signature=by_name(self.key.signer, PLACEHOLDER_SIGNATURE),
        )
        return await (await self._payer()).paid(operation, call, self._signed.least_fees(self._slot))

    @property
    def _nonce_key(self) -> int:
        return int.from_bytes(self.permission_id[:24])

    async def _mined_nonce(self) -> int:
        chain = await self.known_chain()
        nonce_call = call_data("getNonce(address,uint192)", self.key.address, self._nonce_key)
        with chain_errors():
            return int.from_bytes(await chain.eth_call(self.contracts.entry_point, nonce_call, at_least=32)) % NONCES
