"""Finds the payee's address: the one that was given, or a DID's account, which the chain must confirm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.client.flows.accounts import ADDRESS
from holdfast.client.flows.failures import PaymentRefused
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.types.service import AccountState

_OF_A_KEY = "did:new:"
_ADDRESS_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Payee:
    """The payee's address, and the DID for which it was found, if the payer gave a DID."""

    address: str
    did: str | None


async def payee_of(client: AsyncServiceClient, to: str) -> Payee:
    """Return the payee.

    For a DID, the indexer supplies the account, and the chain must confirm that the account belongs to the DID.

    Raises:
        PaymentRefused: the DID has no active account, or the indexer's account is not the DID's.
        ValueError: `to` is neither an address nor a DID.
    """
    if ADDRESS.fullmatch(to):
        return Payee(checksum_address(from_hex(to)), None)
    if not to.startswith("did:"):
        raise ValueError("to must be an address or a DID")
    found = await client.indexer_did(to_hex(did_hash(to)))
    controller = found.controller or ""
    if not found.found or not found.active or not ADDRESS.fullmatch(controller):
        raise PaymentRefused("the payee's DID is not registered, or not active")
    address = checksum_address(from_hex(controller))
    await _confirm(client, to, address)
    return Payee(address, to)


async def _confirm(client: AsyncServiceClient, did: str, address: str) -> None:
    state = await client.get_account_state(address)
    if from_hex(state.did) != did_hash(did) or not state.is_active:
        raise PaymentRefused(
            f"the chain does not confirm that {address} is the account of the payee's DID: nothing was paid"
        )
    if did.startswith(_OF_A_KEY) and not await _is_its_keys(client, did, address, state):
        raise PaymentRefused(f"the payee's DID does not belong to the key of {address}: nothing was paid")


async def _is_its_keys(client: AsyncServiceClient, did: str, address: str, state: AccountState) -> bool:
    """Return whether the DID is the hash of the account's current key or, after a change of keys, of its first key."""
    if did_of_key(int(state.pub_key_x, 16), int(state.pub_key_y, 16)) == did:
        return True
    account = await client.indexer_account(address)
    owner = account.owner_address or ""
    # The owner that the factory records is the last 20 bytes of the hash in the DID (docs/contracts.md).
    return bool(account.found and ADDRESS.fullmatch(owner)) and owner[2:].lower() == did[-_ADDRESS_DIGITS:]
