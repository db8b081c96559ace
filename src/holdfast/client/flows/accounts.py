"""Finds the smart account that the vault's key controls: the one that was created for the key, or a transferred one."""

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
    """A P-256 key and its smart account. `controls` is False if another key now controls the account."""

    x: int
    y: int
    address: str
    controls: bool = True


async def account_of(client: AsyncServiceClient, vault: AsyncVault) -> AccountKey:
    """Return the smart account of the vault's key.

    Usually the result is the account that the factory creates for the key. If a different key now controls that
    account, or the vault's DID was made from an earlier key, the result is an account of the DID or of the earlier key,
    provided the vault's key controls it.
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
    """Return whether this key controls the account."""
    return (int(state.pub_key_x, 16), int(state.pub_key_y, 16)) == (x, y)


def is_deployed(state: AccountState) -> bool:
    """Return whether the account is deployed.

    A nonce above zero proves the deployment, because nonces never decrease.
    """
    return int(state.nonce) > 0 or int(state.pub_key_x, 16) != 0


def coordinates(public_key: str) -> tuple[int, int]:
    """Return the coordinates of a P-256 point in SEC 1 encoding (section 2.3.3), given in base64 or base64url."""
    from cryptography.hazmat.primitives.asymmetric import ec

    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(public_key)).public_numbers()
    return point.x, point.y


async def _handed_over(client: AsyncServiceClient, did: str, x: int, y: int) -> str | None:
    """Return an account of the DID that was transferred to this key.

    The chain, not the indexer, decides who controls the account.
    """
    for address in await _candidates(client, did, x, y):
        if ADDRESS.fullmatch(address) and is_key_of(await client.get_account_state(address), x, y):
            return address
    return None


async def _candidates(client: AsyncServiceClient, did: str, x: int, y: int) -> list[str]:
    """Return the DID's controller and the accounts of the DID's first key that were transferred to this key.

    Anyone can transfer an account to this key, so only accounts created for the DID's first key count. The DID contains
    the hash of its first key.
    """
    try:
        controller = (await client.indexer_did(to_hex(did_hash(did)))).controller
        key = did_of_key(x, y)
        listed = await client.indexer_accounts({"owner": _owner(did), "key_owner": _owner(key)})
        return [str(controller), *(str(row["account_address"]) for row in listed["accounts"])]
    except (RequestRefused, LookupError, TypeError):
        return []


def _owner(did: str) -> str:
    """Return the ID of a key in the factory and the indexer: the last 20 bytes of the hash in the key's `did:new`."""
    return "0x" + did[-_ADDRESS_DIGITS:]
