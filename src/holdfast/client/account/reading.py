"""Reads an account's view from a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain import account_reads
from holdfast.chain.account_reads import Owner
from holdfast.chain.signers import p256_signer
from holdfast.client.account.values import AccountView

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.client.flows.accounts import AccountKey


async def view_of(chain: RpcClient, chain_id: int, factory: str, key: AccountKey, *, own: bool) -> AccountView:
    """Return the owners, guardians, terms and running recovery of the account `key.address`.

    `own`: it is the first account of that key, so the key is its owner before it exists.

    Raises:
        RpcError: the endpoint does not answer for the chain's whole history.
    """
    address = key.address
    if not await chain.get_code(address):
        first = (Owner(key.signer, expiry=0, is_primary=True),) if own else ()
        return AccountView(address=address, chain_id=chain_id, deployed=False, owners=first)
    created = await account_reads.created_of(chain, factory, address)
    known = [key.signer] if created is None else [p256_signer(created.x, created.y)]
    return AccountView(
        address=address,
        chain_id=chain_id,
        deployed=True,
        owners=tuple(await account_reads.owners_of(chain, address, known)),
        guardians=tuple(await account_reads.guardians_of(chain, address)),
        settings=await account_reads.settings_of(chain, address),
        recovery=await account_reads.recovery_of(chain, address),
    )
