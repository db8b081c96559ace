"""Verifies the bearer tokens that authorize writing snapshots: UCAN invocations by the vault's own key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.content.errors import ContentError
from holdfast.content.ipld import cid_of_link
from holdfast.rules.ucan import Token, TokenMalformed, covers, ed25519_key, read_container, read_token
from holdfast.wire.commands import PUBLISH, REVOKE, WRITE
from holdfast.wire.failures import (
    TOKEN_EXPIRED,
    TOKEN_LIVES_TOO_LONG,
    TOKEN_NOT_YET_VALID,
    UNAUTHORIZED,
    WRONG_AUDIENCE,
    WRONG_COMMAND,
    WRONG_SUBJECT,
    SnapshotRefused,
)

MAX_LIFETIME_S = 600
SKEW_S = 60
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class Bearer:
    """A bearer token that is currently valid for this service.

    Attributes:
        did: the vault whose key signed it.
        digest: names the token, whatever form its signature has.
        cids: its CID as text in both forms, as a revocation may state it.
        issued_at: seconds since the epoch; the earliest possible where the token does not say.
        expires_at: seconds since the epoch.
        revokes: for a revocation, the revoked token's CID, or None for every token issued until now.
        args: the command's arguments.
    """

    did: str
    digest: bytes
    cids: tuple[str, str]
    issued_at: int
    expires_at: int
    revokes: str | None = None
    args: dict[str, Any] = field(default_factory=dict)


def bearer_of(authorization: str | None, audience: str, now: float, command: str = WRITE) -> Bearer:
    """Return the token in an Authorization header if it is valid at `now` (seconds since the epoch).

    Raises:
        SnapshotRefused: 401 with the reason: no token, malformed or forged, for another service, command or subject,
            expired, not yet valid, or valid for longer than ten minutes.
    """
    token = _token(authorization)
    claims = token.claims
    if claims.get("aud") != audience:
        raise SnapshotRefused(WRONG_AUDIENCE)
    if claims["cmd"] != command:
        raise SnapshotRefused(WRONG_COMMAND, f"the token is for another command than {command}")
    if claims["sub"] != token.did:
        raise SnapshotRefused(WRONG_SUBJECT)
    issued_at = _check_times(claims, now)
    revokes = _revoked(claims["args"]) if command == REVOKE else None
    return Bearer(token.did, token.digest, token.cids, issued_at, claims["exp"], revokes, claims["args"])


def publisher_of(delegation: bytes | None, did: str, now: float) -> bytes | None:
    """Return the Ed25519 key that a manifest's delegation authorizes to publish for `did`, or None if it is invalid."""
    if delegation is None:
        return None
    try:
        token = read_token(delegation)
        claims = token.claims
        ours = token.kind == "dlg" and token.did == did == claims["sub"] and covers(claims["cmd"], PUBLISH)
        current = (claims["exp"] is None or claims["exp"] > now) and claims.get("nbf", 0) <= now + SKEW_S
        return ed25519_key(claims["aud"]) if ours and current and not claims["pol"] else None
    except TokenMalformed:
        return None


def _token(authorization: str | None) -> Token:
    given = (authorization or "").strip()
    if given[: len(_SCHEME)].lower() != _SCHEME:
        raise SnapshotRefused(UNAUTHORIZED)
    try:
        token = read_token(read_container(given[len(_SCHEME) :].strip()))
    except TokenMalformed as error:
        raise SnapshotRefused(UNAUTHORIZED, f"the bearer token cannot be read: {error}") from None
    if token.kind != "inv" or token.claims["prf"]:
        raise SnapshotRefused(UNAUTHORIZED, "the bearer token is not an invocation by the vault's key itself")
    return token


def _check_times(claims: dict[str, int | None], now: float) -> int:
    """Return when the token was issued, or the earliest time at which it could have been."""
    end = claims["exp"]
    if end is None or end > now + MAX_LIFETIME_S + SKEW_S:
        raise SnapshotRefused(TOKEN_LIVES_TOO_LONG)
    if end <= now:
        raise SnapshotRefused(TOKEN_EXPIRED)
    begins = max(claims.get("nbf") or 0, claims.get("iat") or 0)
    if begins > now + SKEW_S:
        raise SnapshotRefused(TOKEN_NOT_YET_VALID)
    issued_at = claims.get("iat")
    if issued_at is None:
        return end - MAX_LIFETIME_S
    if end - issued_at > MAX_LIFETIME_S:
        raise SnapshotRefused(TOKEN_LIVES_TOO_LONG)
    return issued_at


def _revoked(args: dict[str, object]) -> str | None:
    """Return the CID of the token that a revocation request revokes.

    Raises SnapshotRefused(UNAUTHORIZED) for another value.
    """
    if "ucan" not in args:
        return None
    try:
        return cid_of_link(args["ucan"])
    except ContentError:
        raise SnapshotRefused(UNAUTHORIZED, "the revocation's argument `ucan` is not a link to a token") from None
