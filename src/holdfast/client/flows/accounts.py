"""Which smart account the vault's key controls: the factory's, or after a change of keys the one it was handed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.client.http.refusals import IndexerNotConfigured, RequestRefused
from holdfast.wire.encoding import from_base64url, to_hex
from holdfast.wire.keccak import did_hash

if TYPE_CHECKING:
    from holdfast.client.flows.faces import Face
    from holdfast.client.types.service import AccountState

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


@dataclass(frozen=True, slots=True)
class AccountKey:
    """A P-256 key and the account that obeys it. `controls`: False once the account obeys another key."""

    x: int
    y: int
    address: str
    controls: bool = True


async def account_of(client: Face, vault: Face) -> AccountKey:
    """The account of the vault's key.

    That is the factory's account for the key, unless that one does not exist or obeys another key by now: then the
    account that the vault's DID is registered for, or that the indexer knows by its key, if it obeys ours.
    """
    found = await vault.query()
    x, y = coordinates(found.verification_methods[0].public_key)
    predicted = await client.get_smart_account_address(hex(x), hex(y))
    state = await client.get_account_state(predicted)
    if is_key_of(state, x, y):
        return AccountKey(x, y, predicted)
    handed = await _handed_over(client, found.did, x, y)
    return AccountKey(x, y, handed or predicted, controls=handed is not None or not is_deployed(state))


def is_key_of(state: AccountState, x: int, y: int) -> bool:
    """Whether the account obeys that key."""
    return (int(state.pub_key_x, 16), int(state.pub_key_y, 16)) == (x, y)


def is_deployed(state: AccountState) -> bool:
    """Whether there is an account; an account that was used keeps its nonce."""
    return int(state.nonce) > 0 or int(state.pub_key_x, 16) != 0


def coordinates(public_key: str) -> tuple[int, int]:
    """X and Y of an encoded point of P-256 (SEC 1, section 2.3.3) in base64 or base64url."""
    from cryptography.hazmat.primitives.asymmetric import ec

    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(public_key)).public_numbers()
    return point.x, point.y


async def _handed_over(client: Face, did: str, x: int, y: int) -> str | None:
    """The account of another first key that obeys this one now. The chain decides, not the indexer."""
    try:
        found = await client.indexer_did(to_hex(did_hash(did)))
    except (IndexerNotConfigured, RequestRefused):
        return None
    controller = str(found.controller)
    if not found.found or not ADDRESS.fullmatch(controller):
        return None
    state = await client.get_account_state(controller)
    return controller if is_key_of(state, x, y) else None
