"""Verifies the optional signature of a registration: a UCAN invocation by the key of the DID that registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.dids import parse_credential_id
from holdfast.rules.snapshot_tokens import bearer_of
from holdfast.wire.commands import REGISTER
from holdfast.wire.errors import Refused
from holdfast.wire.failures import SnapshotRefused

if TYPE_CHECKING:
    from holdfast.rules.snapshot_tokens import Bearer


def signature_of(authorization: str | None, audience: str, did: str, credential: str, now: float) -> Bearer | None:
    """Return the token with which a DID's key signed the registration of a credential.

    Any other header counts as none, so that a registration from a device with a wrong clock still has what everyone
    has.

    Args:
        authorization: the header's value.
        audience: this service's DID.
        did: the DID that the request states.
        credential: the request's credential ID in canonical form, which the token's argument `credentialId` must name.
        now: seconds since the epoch.
    """
    if authorization is None:
        return None
    try:
        bearer = bearer_of(authorization, audience, now, REGISTER)
        named = bearer.args.get("credentialId")
        same = isinstance(named, str) and parse_credential_id(named) == credential
    except (SnapshotRefused, Refused):
        return None
    return bearer if same and bearer.did == did else None
