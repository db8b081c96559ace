"""The passkey for the new service: it is added to the vault, and shows that it can sign before anything else moves."""

from __future__ import annotations

import base64
import json
import secrets
from typing import TYPE_CHECKING

from holdfast.chain.assertions import is_accepted
from holdfast.client.callbacks import outside
from holdfast.client.moving.values import MoveRefused
from holdfast.client.passkeys import Person
from holdfast.client.vault.keys import KnownKey, passkey_key, passkey_wrap
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from holdfast.client.moving.values import NewPasskeys
    from holdfast.client.vault.async_vault import AsyncVault

_CHALLENGE_BYTES = 32


async def recorded_passkey(vault: AsyncVault, passkeys: NewPasskeys, name: str) -> str:
    """Create a passkey for the new service, record it in the vault, and return its ID.

    It opens nothing yet. Raises WebAuthnError, PluginCallError, and MoveRefused for a passkey that is not new.
    """
    person = Person.of(await vault.publishing_key(), name)
    made = await outside(lambda: passkeys.create_passkey(person))
    if any(known.credential_id == made.credential_id for known in (await vault.query()).credentials):
        raise MoveRefused("no_proof", "the vault has this passkey already")
    parsed = (await vault.parse_webauthn(made.credential)).parsed
    row = {
        "credential_id": made.credential_id,
        "device_name": passkeys.rp_id,
        "device_type": parsed.get("attachment") or "cross-platform",
        "authenticator": str(parsed.get("aaguid") or "").replace("-", ""),
        "transports": parsed.get("transports") or [],
        "public_key": parsed["cose_key"],
    }
    done = await vault.exec("resource:credentials action:create", row)
    if not done.success:
        raise PluginCallError("exec", f"the passkey was not recorded ({done.error})", done.error)
    return made.credential_id


async def opening_key(vault: AsyncVault, passkeys: NewPasskeys, credential_id: str) -> KnownKey:
    """Return the new passkey's key, after the passkey has signed for the new service; from then on it opens the vault.

    The challenge is new and leaves this machine only for the authenticator, so the signature is of no use elsewhere.

    Raises:
        MoveRefused: the signature is not the passkey's, not for this service, or not one that an account accepts.
        WebAuthnError: the passkey was not used, or has no PRF.
    """
    challenge = secrets.token_bytes(_CHALLENGE_BYTES)
    assertion = await outside(lambda: passkeys.assertion(challenge, (credential_id,)))
    verification = {"assertion": assertion, "challenge": challenge, "origin": passkeys.origin, "rp_id": passkeys.rp_id}
    verdict = await vault.exec("resource:credentials action:verify", verification)
    said = verdict.result if verdict.success and verdict.result else {"reason": verdict.error}
    if not said.get("valid") or said.get("credential_id") != credential_id:
        reason = said.get("reason") or "another passkey has"
        raise MoveRefused("no_proof", f"the new passkey has not signed for {passkeys.rp_id} ({reason})")
    if not _is_accepted(challenge, assertion):
        raise MoveRefused("no_proof", "the new passkey does not sign as an account requires")
    key = KnownKey(passkey_key(credential_id, await outside(lambda: passkeys.prf(credential_id))))
    if not await opens(vault, credential_id):
        await vault.add_key(key)
    return key


async def opens(vault: AsyncVault, credential_id: str) -> bool:
    """Return whether the passkey opens the vault."""
    named = ("prf", passkey_wrap(credential_id))
    return any((wrap["kind"], wrap["id"]) == named for wrap in (await vault.keys()).wraps)


async def forget(vault: AsyncVault, credential_id: str) -> None:
    """Remove a passkey from the vault, which it may or may not open yet."""
    if await opens(vault, credential_id):
        await vault.remove_key("prf", passkey_wrap(credential_id))
    await vault.exec("resource:credentials action:delete", {"credential_id": credential_id})


def _is_accepted(challenge: bytes, assertion: str) -> bool:
    response = json.loads(base64.b64decode(assertion))["response"]
    data, client = (from_base64url(response[name]) for name in ("authenticatorData", "clientDataJSON"))
    return is_accepted(challenge, data, client)
