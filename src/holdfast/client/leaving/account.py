"""An account on a chain, without any service: whether the vault's key may act for it, and its operations."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.account_reads import has_expired, owner_state, primary_of, settings_of
from holdfast.chain.bundler import PLACEHOLDER_SIGNATURE
from holdfast.chain.contracts import predict_account
from holdfast.chain.contracts.addresses import APP_FACTORY
from holdfast.chain.signers import by_name, named
from holdfast.chain.user_operations import UserOperation
from holdfast.client.flows.accounts import AccountKey
from holdfast.client.flows.failures import OperationFailed
from holdfast.wire.client_errors import PluginCallError, ServiceError
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain.calls import Call
    from holdfast.chain.rpc import RpcClient
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.vault.own_key import OwnKey


class OtherChain(ServiceError):
    """The node is another chain's than the one that was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as the node tells it.

    Attributes:
        key: the vault's key, or that of `passkey`, and the account's address.
        passkey: an owner that signs in a vault's place.
        deployed: whether it exists; if not, its first operation creates it.
        by_name: the key is an owner but not the primary key, so its signature names it.
        second: another owner's key, which signs too because two owners must.
        is_incomplete: two owners must sign, and `second` is missing.
        obstacle: why the vault's key cannot act for the account, None if it can.
    """

    key: AccountKey
    chain_id: int
    entry_point: str
    deployed: bool
    by_name: bool = False
    nonce: int = 0
    passkey: SecondKey | None = None
    second: SecondKey | None = None
    is_incomplete: bool = False
    obstacle: str | None = None

    def operation(self, batch: Iterable[Call]) -> UserOperation:
        """Return the operation that makes these calls, all or none, without gas limits, fees and signature."""
        return UserOperation(
            sender=from_hex(self.key.address),
            nonce=self.nonce,
            call_data=calls.execute_batch(list(batch)),
            factory=None if self.deployed else from_hex(APP_FACTORY),
            factory_data=None if self.deployed else calls.create_account(self.key.x, self.key.y),
            signature=self._placeholder(),
        )

    def signature(self, own: bytes, operation_hash: bytes) -> bytes:
        """Return the account's signature of an operation: `own`, and the second key's where two must sign."""
        other = None if self.second is None else cast("bytes", self.second.sign(operation_hash))
        return self._whole(own, other)

    def _placeholder(self) -> bytes:
        if self.by_name or self.second is not None:
            own = self.passkey.placeholder if self.passkey else PLACEHOLDER_SIGNATURE
            return self._whole(own, self.second.placeholder if self.second else None)
        return b""

    def _whole(self, own: bytes, other: bytes | None) -> bytes:
        if self.second is not None and other is not None:
            return named([(self.key.signer, own), (self.second.signer, other)])
        return by_name(self.key.signer, own) if self.by_name else own


def key_and_account(own: OwnKey, address: str | None) -> AccountKey:
    """Return the vault's key with the account `address` or, without one, its first account.

    Raises PluginCallError for a vault whose key is not a P-256 key.
    """
    if own.curve != "P-256":
        raise PluginCallError("exec", "an account obeys P-256 keys only", "unsupported_curve")
    return AccountKey(own.x, own.y, address or predict_account(own.x, own.y))


async def require_chain(chain: RpcClient, chain_id: int) -> None:
    """Raise OtherChain if the node is another chain's."""
    if (served := await chain.chain_id()) != chain_id:
        raise OtherChain(f"the node is of chain {served}, not {chain_id}")


async def account_on(
    chain: RpcClient,
    chain_id: int,
    key: AccountKey,
    entry_point: str,
    second: SecondKey | None = None,
    passkey: SecondKey | None = None,
) -> Account:
    """Return the account of this key as the node tells it.

    Args:
        chain: the node.
        chain_id: the chain that the person named.
        key: the vault's key, or that of `passkey`, and the account's address.
        entry_point: the entry point's address.
        second: another owner's key, which signs in the calling thread if two owners must sign.
        passkey: an owner that signs in a vault's place.

    Raises OtherChain, OperationFailed, RpcError.
    """
    await require_chain(chain, chain_id)
    if not await chain.get_code(entry_point):
        raise OperationFailed(f"the chain {chain_id} has no entry point at {entry_point}: name another one")
    deployed = bool(await chain.get_code(key.address))
    known = Account(key=key, chain_id=chain_id, entry_point=entry_point, deployed=deployed)
    account = replace(known, second=second, passkey=passkey)
    return await _deployed(chain, account) if deployed else await _future(chain, account)


async def _deployed(chain: RpcClient, account: Account) -> Account:
    key, address = account.key, account.key.address
    is_owner = await is_owner_of(chain, address, key.signer)
    two, second = (await settings_of(chain, address)).threshold > 1, account.second
    is_second = second is not None and second.signer != key.signer and await is_owner_of(chain, address, second.signer)
    nonce = await chain.eth_call(account.entry_point, call_data("getNonce(address,uint192)", address, 0))
    return replace(
        account,
        # Estimates without a name are for the shorter signatures of vaults.
        by_name=account.passkey is not None or await primary_of(chain, address) != key.signer,
        nonce=int.from_bytes(nonce[:32]),
        second=second if two and is_second else None,
        is_incomplete=is_owner and two and not is_second,
        obstacle=None if is_owner else f"the account {address} is controlled by another key than this vault's",
    )


async def is_owner_of(chain: RpcClient, address: str, signer: bytes) -> bool:
    """Return whether a signer is an owner of an account that exists, and has not expired."""
    is_owner, expiry, _ = await owner_state(chain, address, signer)
    return is_owner and not has_expired(expiry, time.time())


async def _future(chain: RpcClient, account: Account) -> Account:
    """Return an account that does not exist yet, with why its first operation cannot create it."""
    key, account = account.key, replace(account, second=None)
    if key.address != predict_account(key.x, key.y):
        return replace(account, obstacle=f"the account {key.address} does not exist on this chain")
    if await chain.get_code(APP_FACTORY):
        return account
    missing = f"the account {key.address} does not exist yet, and this chain lacks its factory {APP_FACTORY}"
    return replace(account, obstacle=missing)
