"""Reads from a chain node all that an exit needs to know."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.contracts import predict_account
from holdfast.chain.contracts.addresses import APP_FACTORY
from holdfast.chain.errors import RpcError
from holdfast.chain.two_keys import missing_text
from holdfast.client.account.reading import view_of
from holdfast.client.flows.failures import chain_errors
from holdfast.client.leaving.account import Account, account_on
from holdfast.client.leaving.holdings import holdings_of

if TYPE_CHECKING:
    from holdfast.chain.account_reads import Owner
    from holdfast.chain.rpc import RpcClient
    from holdfast.client.flows.accounts import AccountKey
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.leaving.moves import Holdings


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the person named: the chain, its contracts, and what may be in the account in addition to coin and USDC."""

    chain_id: int
    entry_point: str
    registry: str
    usdc: str | None
    tokens: tuple[str, ...] = ()
    nfts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """An account, what it has, and its owners: None if the node does not show the account's history."""

    account: Account
    held: Holdings
    owners: tuple[Owner, ...] | None

    @property
    def others(self) -> list[bytes]:
        """The owners other than the vault's key whose signatures are valid, as signers."""
        own, now = self.account.key.signer, time.time()
        return [owner.signer for owner in self.owners or () if owner.signer != own and owner.signs_at(now)]

    @property
    def obstacle(self) -> str | None:
        """Why the keys cannot act for the account, None if they can."""
        account = self.account
        return missing_text(account.key.address, self.others) if account.is_incomplete else account.obstacle


async def standing_of(
    chain: RpcClient,
    key: AccountKey,
    named: Named,
    second: SecondKey | None = None,
    passkey: SecondKey | None = None,
) -> Standing:
    """Return what the node says; `second` and `passkey` as in `account_on`.

    Raises OtherChain, OperationFailed, NetworkError.
    """
    with chain_errors():
        account = await account_on(chain, named.chain_id, key, named.entry_point, second, passkey)
        held = await holdings_of(
            chain,
            key.address,
            tokens=named.tokens,
            usdc=named.usdc,
            nfts=named.nfts,
            registry=named.registry,
            entry_point=named.entry_point,
        )
    return Standing(account, held, await _owners(chain, key, named.chain_id))


async def _owners(chain: RpcClient, key: AccountKey, chain_id: int) -> tuple[Owner, ...] | None:
    """Return the owners. Many public nodes refuse to search the whole chain for events; leaving does not need them."""
    own = key.address == predict_account(key.x, key.y)
    try:
        return (await view_of(chain, chain_id, APP_FACTORY, key, own=own)).owners
    except RpcError:
        return None
