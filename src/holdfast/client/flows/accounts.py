"""Finding the smart account that the vault's key controls: the factory's, or one that was transferred to the key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.encoding import from_base64url, to_hex
from holdfast.wire.keccak import did_hash, did_of_key

if TYPE_CHECKING:
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.types.service import AccountState
    from holdfast.client.vault.async_vault import AsyncVault

_ADDRESS_DIGITS = 40
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


@dataclass(frozen=True, slots=True)
class AccountKey:
    """A P-256 key and its account. `controls` is False if another key now controls the account."""

    x: int
    y: int
    address: str
    controls: bool = True


async def account_of(client: AsyncServiceClient, vault: AsyncVault) -> AccountKey:
    """Return the account of the vault's key.

    That is the factory's account for the key. If another key now controls that one, or if the vault's DID belongs to
    another first key, it is the account of that DID or first key, provided this key controls it.
    """
    found = await vault.query()
    x, y = coordinates(found.verification_methods[0].public_key)
    predicted = await client.get_smart_account_address(hex(x), hex(y))
    state = await client.get_account_state(predicted)
    first = did_of_key(x, y) == found.did
    if is_key_of(state, x, y) or (first and not is_deployed(state)):
        return AccountKey(x, y, predicted)
    handed = await _handed_over(client, found.did, x, y)
    return AccountKey(x, y, handed or predicted, controls=handed is not None or not is_deployed(state))


def is_key_of(state: AccountState, x: int, y: int) -> bool:
    """Return whether the key controls the account."""
    return (int(state.pub_key_x, 16), int(state.pub_key_y, 16)) == (x, y)


def is_deployed(state: AccountState) -> bool:
    """Return whether the account is deployed. A nonce above zero proves it, because nonces never decrease."""
    return int(state.nonce) > 0 or int(state.pub_key_x, 16) != 0


def coordinates(public_key: str) -> tuple[int, int]:
    """Return X and Y of an encoded P-256 point (SEC 1, section 2.3.3), given in base64 or base64url."""
    from cryptography.hazmat.primitives.asymmetric import ec

    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(public_key)).public_numbers()
    return point.x, point.y


async def _handed_over(client: AsyncServiceClient, did: str, x: int, y: int) -> str | None:
    """Return the account of another first key that this key now controls. The chain decides this, not the indexer."""
    for address in await _candidates(client, did, x, y):
        if ADDRESS.fullmatch(address) and is_key_of(await client.get_account_state(address), x, y):
            return address
    return None


async def _candidates(client: AsyncServiceClient, did: str, x: int, y: int) -> list[str]:
    """Return the DID's controller and the accounts of the DID's first key that were transferred to this key.

    Anyone can transfer an account to this key, so only accounts of the first key count. The DID identifies that key.
    """
    try:
        controller = (await client.indexer_did(to_hex(did_hash(did)))).controller
        key = did_of_key(x, y)
        listed = await client.indexer_accounts({"owner": _owner(did), "key_owner": _owner(key)})
        return [str(controller), *(str(row["account_address"]) for row in listed["accounts"])]
    except (RequestRefused, LookupError, TypeError):
        return []


def _owner(did: str) -> str:
    """Return a key's identifier in factory and indexer: the last 20 bytes of the hash in its `did:new`."""
    return "0x" + did[-_ADDRESS_DIGITS:]
