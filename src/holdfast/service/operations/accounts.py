"""Reads counterfactual addresses, account states and balances from the chain."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.rules import abi
from holdfast.wire.abi import WORD
from holdfast.wire.encoding import from_hex
from holdfast.wire.errors import RPC_ERROR, USDC_NOT_AVAILABLE, Refused
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.rules.abi import AccountSlots
    from holdfast.rules.chains import Token
    from holdfast.service.upstreams.chain_rpc import ChainReader

MAX_PREDICTED = 100_000


@dataclass(frozen=True, slots=True)
class Accounts:
    """Reads smart accounts on the default chain, and their nonces from the configured entry point."""

    chain: ChainReader
    factory: str
    helper: str
    entry_point: str
    _predicted: OrderedDict[tuple[int, int, int], str] = field(default_factory=OrderedDict)

    async def predict(self, x: int, y: int, salt: int) -> str:
        """Return the counterfactual address of a key. Raises Refused(RPC_ERROR).

        A factory never changes the address for a key, so addresses are cached.
        """
        key = (x, y, salt)
        known = self._predicted.get(key)
        if known is not None:
            return known
        data = await _call(self.chain, self.factory, abi.encode_get_address(x, y, salt), WORD)
        try:
            address = checksum_address(abi.decode_address(data))
        except abi.MalformedAnswer:
            raise Refused(RPC_ERROR) from None
        self._predicted[key] = address
        if len(self._predicted) > MAX_PREDICTED:
            self._predicted.popitem(last=False)
        return address

    async def state(self, account: bytes) -> AccountSlots:
        """Return the account's state, which is read by one call to a helper contract. Raises Refused(RPC_ERROR)."""
        try:
            return await self.read_state(account)
        except (RpcError, abi.MalformedAnswer):
            raise Refused(RPC_ERROR) from None

    async def read_state(self, account: bytes) -> AccountSlots:
        """Return the same. Raises RpcError or MalformedAnswer."""
        question = abi.encode_account_state(account, from_hex(self.entry_point))
        return abi.decode_account_state(await self.chain.call(self.helper, question, 5 * WORD))


@dataclass(frozen=True, slots=True)
class Balances:
    """Balances on every supported chain.

    Attributes:
        chains: reader by chain ID.
        usdc: address of the USDC token by chain ID, absent for a chain without it.
    """

    chains: Mapping[int, ChainReader]
    usdc: Mapping[int, str]

    def admit(self, token: Token, chain_id: int) -> None:
        """Refuse a token that is not supported on the chain (interface: GET /api/balance, 400)."""
        if token.symbol == "USDC" and not self.usdc.get(chain_id):
            raise Refused(USDC_NOT_AVAILABLE)

    async def of(self, account: bytes, token: Token, chain_id: int) -> int:
        """Return the balance of a supported token in its smallest unit. Raises Refused(RPC_ERROR)."""
        chain = self.chains[chain_id]
        if token.symbol == "USDC":
            return await self._usdc(chain, account, self.usdc[chain_id])
        try:
            return await chain.balance(account)
        except RpcError:
            raise Refused(RPC_ERROR) from None

    async def _usdc(self, chain: ChainReader, account: bytes, contract: str) -> int:
        data = await _call(chain, contract, abi.encode_address_call(abi.BALANCE_OF, account), WORD)
        try:
            return abi.decode_uint256(data)
        except abi.MalformedAnswer:
            raise Refused(RPC_ERROR) from None


async def _call(chain: ChainReader, to: str, data: bytes, size: int) -> bytes:
    try:
        return await chain.call(to, data, size)
    except RpcError:
        raise Refused(RPC_ERROR) from None
