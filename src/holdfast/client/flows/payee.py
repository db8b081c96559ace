"""Finds the payee's address: the one that was given, or a DID's account, which the chain must confirm."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.account_reads import Created, created_of
from holdfast.chain.errors import ChainError
from holdfast.client.flows.accounts import ADDRESS, account_address, address_in
from holdfast.client.flows.failures import PaymentRefused
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.types.service import AccountState, ContractSet

_OF_A_KEY = "did:new:"
_BLOCK = re.compile(r"[0-9]{1,78}")


@dataclass(frozen=True, slots=True)
class Payee:
    """The payee's address, and the DID for which it was found, if the payer gave a DID."""

    address: str
    did: str | None


async def payee_of(client: AsyncServiceClient, to: str, account: SmartAccount) -> Payee:
    """Return the payee. `account` is the payer's, on the same chain.

    For a DID, the indexer supplies the account, and the chain must confirm that the account belongs to the DID. The
    address of a `did:new` must also follow from the key whose hash is the DID.

    Raises:
        PaymentRefused: the DID has no active account, or the indexer's account is not the DID's.
        ValueError: `to` is neither an address nor a DID.
    """
    if ADDRESS.fullmatch(to):
        return Payee(address_in(to, "to"), None)
    if not to.startswith("did:"):
        raise ValueError("to: an address or a DID")
    found = await client.indexer_did(to_hex(did_hash(to)))
    controller = found.controller or ""
    if not found.found or not found.active or not ADDRESS.fullmatch(controller):
        raise PaymentRefused("the payee's DID is not registered, or not active", "payee_unregistered")
    address = checksum_address(from_hex(controller))
    await _confirm(client, to, address, account)
    return Payee(address, to)


async def check_elsewhere(client: AsyncServiceClient, payee: Payee, chain_id: int, contracts: ContractSet) -> None:
    """Check that a DID's account has the same key on another chain as on the main chain. Raises PaymentRefused.

    A change of owners may not have reached the other chain, where a new account obeys its first key.
    """
    if payee.did is None:
        return
    here, there = await asyncio.gather(
        client.get_account_state(payee.address), client.account_state_on(chain_id, payee.address)
    )
    key, found = _key_of(here), _key_of(there)
    if found != key if any(found) else account_address(contracts, *key, 0) != payee.address:
        raise _unverified(f"on chain {chain_id}, {payee.address} obeys another key than on the payee's own chain")


def _unverified(why: str) -> PaymentRefused:
    return PaymentRefused(f"{why}: nothing was paid", "payee_unverified")


def _key_of(state: AccountState) -> tuple[int, int]:
    return int(state.pub_key_x, 16), int(state.pub_key_y, 16)


async def _confirm(client: AsyncServiceClient, did: str, address: str, account: SmartAccount) -> None:
    state = await _state_of(client, address)
    if from_hex(state.did) != did_hash(did) or not state.is_active:
        raise _unverified(f"the chain does not confirm that {address} is the account of the payee's DID")
    if did.startswith(_OF_A_KEY) and not await _follows(client, did, address, state, account):
        raise _unverified(f"{address} does not follow from the key of the payee's DID")


async def _state_of(client: AsyncServiceClient, address: str) -> AccountState:
    """Return the account's state; read once more if it may be from before the registration that the indexer reports."""
    state = await client.get_account_state(address)
    if state.is_active:
        return state
    await asyncio.sleep(OPERATIONS.state_age_s)
    return await client.get_account_state(address)


async def _follows(
    client: AsyncServiceClient, did: str, address: str, state: AccountState, account: SmartAccount
) -> bool:
    """Return whether the address follows from the key whose hash is the DID.

    The key is the current one or the first. Whoever names it cannot lie: the DID and the address are hashes of it.
    """
    present = Created(*_key_of(state), 0)
    if _is_origin(present, did, address, account.contracts):
        return True
    found, chain = await client.indexer_account(address), await account.chain()
    block = _BLOCK.fullmatch(found.block_number or "")
    if chain is None or block is None:
        return False
    try:
        created = await created_of(chain, account.contracts.app_factory, address, int(block[0]))
    except ChainError:
        return False
    return created is not None and _is_origin(created, did, address, account.contracts)


def _is_origin(origin: Created, did: str, address: str, contracts: ContractSet) -> bool:
    follows = account_address(contracts, origin.x, origin.y, origin.salt) == address
    return follows and did_of_key(origin.x, origin.y) == did
