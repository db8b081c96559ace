"""The smart accounts of keys: a key's first account has an address that follows from the key and the factory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.contracts import predict_account
from holdfast.chain.errors import ChainError
from holdfast.chain.signers import p256_signer
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, keccak256

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.client.types.service import AccountState, ContractSet
    from holdfast.client.vault.async_vault import AsyncVault

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
ACCOUNT_CREATED = keccak256(b"AccountCreated(address,address,uint256,uint256,uint256)")
_WORD = 32


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
        if not ADDRESS.fullmatch(address):
            raise ValueError("account: not an address")
        return AccountKey(self.x, self.y, checksum_address(from_hex(address)))

    def is_replaced(self, state: AccountState) -> bool:
        """Return whether the account is deployed, and its primary key is another one now."""
        return is_deployed(state) and (int(state.pub_key_x, 16), int(state.pub_key_y, 16)) != (self.x, self.y)


@dataclass(frozen=True, slots=True)
class Origin:
    """What an account was created for: the coordinates of its first key, and a salt."""

    x: int
    y: int
    salt: int


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


async def origin_of(chain: RpcClient, contracts: ContractSet, address: str, block: int) -> Origin | None:
    """Return, unchecked, what the factory says the account was created for in a block; None without an answer."""
    about = [to_hex(ACCOUNT_CREATED), to_hex(from_hex(address).rjust(_WORD, b"\0"))]
    where = {"address": contracts.app_factory, "fromBlock": hex(block), "toBlock": hex(block), "topics": about}
    try:
        found = values.logs(await chain.call("eth_getLogs", [where]))
    except ChainError:
        return None
    words = found[0].data if found else b""
    if len(words) != 3 * _WORD:
        return None
    return Origin(*(int.from_bytes(words[start : start + _WORD]) for start in range(0, len(words), _WORD)))
