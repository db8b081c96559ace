"""The smart accounts of keys: a key's first account has an address that follows from the key and the factory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.contracts import predict_account
from holdfast.chain.signers import p256_signer
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from holdfast.client.types.service import AccountState, ContractSet
    from holdfast.client.vault.async_vault import AsyncVault

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def address_in(text: str, name: str) -> str:
    """Return an address in EIP-55 form. Raises ValueError for a wrong checksum, the zero address and other texts."""
    if not ADDRESS.fullmatch(text) or not any(from_hex(text)):
        raise ValueError(f"{name}: not an address")
    found = checksum_address(from_hex(text))
    if text[2:] not in {found[2:], text[2:].lower(), text[2:].upper()}:
        raise ValueError(f"{name}: the address has a typing error (its checksum is wrong)")
    return found


@dataclass(frozen=True, slots=True)
class AccountKey:
    """A P-256 key and its smart account."""

    x: int
    y: int
    address: str

    @property
    def signer(self) -> bytes:
        """The key as a signer of accounts."""
        return p256_signer(self.x, self.y)

    def of(self, address: str | None) -> AccountKey:
        """Return the key with another account that it owns. Raises ValueError for a text that is not an address."""
        if address is None:
            return self
        return AccountKey(self.x, self.y, address_in(address, "account"))

    def is_replaced(self, state: AccountState) -> bool:
        """Return whether the account is deployed, and its primary key is another one now."""
        return is_deployed(state) and (int(state.pub_key_x, 16), int(state.pub_key_y, 16)) != (self.x, self.y)


def account_address(contracts: ContractSet, x: int, y: int, salt: int = 0) -> str:
    """Return the address of a key's account, which is computed and not asked for (CREATE2)."""
    return predict_account(x, y, salt, factory=contracts.app_factory)


async def account_of(vault: AsyncVault, contracts: ContractSet) -> AccountKey:
    """Return the first account of the vault's key. Raises PluginCallError if that is not a P-256 key."""
    key = await vault.own_key()
    if key.curve != "P-256":
        raise PluginCallError("exec", "an account obeys P-256 keys only", "unsupported_curve")
    return AccountKey(key.x, key.y, account_address(contracts, key.x, key.y))


def is_deployed(state: AccountState) -> bool:
    """Return whether the account is deployed. A nonce above zero proves it, because nonces never decrease."""
    return int(state.nonce) > 0 or int(state.pub_key_x, 16) != 0
