"""The requests of a person about all that the service stores of their DID: invocations signed by the vault's key.

The token's arguments say what is asked, so that a token can be used for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.rules.dids import parse_credential_id
from holdfast.rules.identifiers import parse_channel, parse_identifier, parse_verify_channel
from holdfast.wire.errors import Refused
from holdfast.wire.failures import BAD_REQUEST, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.rules.identifiers import Identifier

_NAMED = {"identifier", "channel"}
_FORMS = ({"credentialId"}, {"identifier", "channel"}, {"everything"})


class RemovalRequest(NamedTuple):
    """What a person takes back: a credential ID in canonical form, an identifier, or everything if both are None."""

    credential: str | None = None
    identifier: Identifier | None = None


def removal_request(args: Mapping[str, object]) -> RemovalRequest:
    """Return what the arguments of a `/person/remove` invocation ask for. Raises SnapshotRefused(BAD_REQUEST)."""
    if set(args) not in _FORMS:
        raise SnapshotRefused(BAD_REQUEST, "the token names a credentialId, an identifier with channel, or everything")
    if "everything" in args:
        if args["everything"] is not True:
            raise SnapshotRefused(BAD_REQUEST, "the argument `everything` is true or absent")
        return RemovalRequest()
    texts = {name: value for name, value in args.items() if isinstance(value, str)}
    if len(texts) < len(args):
        raise SnapshotRefused(BAD_REQUEST, "the token's arguments are texts")
    try:
        if "credentialId" in texts:
            return RemovalRequest(credential=parse_credential_id(texts["credentialId"]))
        return RemovalRequest(identifier=parse_identifier(texts["identifier"], parse_channel(texts["channel"])))
    except Refused as refused:
        raise SnapshotRefused(BAD_REQUEST, refused.row.error) from None


def added_address(args: Mapping[str, object]) -> tuple[Identifier, dict[str, str]]:
    """Return the address that a `/person/add` invocation adds, and its attestation, which is not yet verified.

    Raises SnapshotRefused(BAD_REQUEST).
    """
    attestation = args.get("attestation")
    if set(args) != {"attestation"} or not isinstance(attestation, dict):
        raise SnapshotRefused(BAD_REQUEST, "the token names an attestation, and nothing else")
    texts = {name: value for name, value in attestation.items() if isinstance(value, str)}
    if len(texts) < len(attestation) or not set(texts) >= _NAMED:
        raise SnapshotRefused(BAD_REQUEST, "an attestation consists of texts, among them identifier and channel")
    try:
        channel = parse_verify_channel(texts["channel"])
        return parse_identifier(texts["identifier"], channel), texts
    except Refused as refused:
        raise SnapshotRefused(BAD_REQUEST, refused.row.error) from None
