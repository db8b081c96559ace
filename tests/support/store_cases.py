"""Identifiers, writes and rules that the tests of all stores share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

from tests.support.snapshot_cases import DID

from holdfast.rules.addresses import NOWHERE
from holdfast.rules.identifiers import Channel, Identifier
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.rules.quotas import Counted, Quota
from holdfast.rules.registration import Confirmation, Move, RegistrationFacts
from holdfast.service.store.persons import NewAddress, Removal
from holdfast.service.store.port import Store
from holdfast.service.store.values import NewAttempt, NewCode, NewRegistration, NewSession
from holdfast.wire.errors import IDENTIFIER_TAKEN, Refused
from holdfast.wire.failures import SnapshotRefused
from holdfast.wire.requests import RegisterDid

ANN = Identifier(Channel.HANDLE, "ann", "Ann")
BOB = Identifier(Channel.HANDLE, "bob", "Bob")
MAIL = Identifier(Channel.EMAIL, "ann@example.com", "Ann@example.com")
NOW = 1_800_000_000.0
NAMES = Pseudonyms(b"k" * 32)


def handle(name: str) -> Identifier:
    return Identifier(Channel.HANDLE, name, name)


def admit(_facts: Any) -> None:
    return None


def refuse(_facts: Any) -> None:
    raise Refused(IDENTIFIER_TAKEN)


def session(identifier: Identifier = ANN, did: str = "did:a:1", ip: str = "192.0.2.1", now: float = NOW) -> NewSession:
    return NewSession(identifier=identifier, did=did, ip=ip, now=now)


def registration(**fields: Any) -> NewRegistration:
    """Return a registration; keyword arguments set fields of the registration or of the request that it contains."""
    base: dict[str, Any] = {
        "identifier": ANN, "attestation": None, "confirmation": Confirmation.PENDING, "ip": "192.0.2.1", "now": NOW,
        "signed": False, "network": NOWHERE,
    }  # fmt: skip
    of_it = {**base, **{name: value for name, value in fields.items() if name in base}}
    of_request = {name: value for name, value in fields.items() if name not in base}
    identifier = of_it["identifier"]
    request = RegisterDid(
        identifier=identifier.given,
        channel=identifier.channel.value,
        **{"credential_id": "cred", "did": "did:a:1", "tx_hash": "0x1", **of_request},
    )
    return NewRegistration(request=request, **of_it)


def code(digest: bytes = b"digest", ip: str = "192.0.2.1") -> NewCode:
    return NewCode(identifier=MAIL, digest=digest, ip=ip, now=NOW, expires_at=NOW + 90)


def attempt(now: float = NOW, ip: str = "192.0.2.1", quotas: Sequence[Quota] = ()) -> NewAttempt:
    return NewAttempt(identifier=MAIL, ip=ip, now=now, limit=5, quotas=quotas)


def removal(token: int = 1, did: str = DID, **what: Any) -> Removal:
    given = {"now": NOW + 10, "pseudonyms": NAMES, "until": NOW + 300, **what}
    return Removal(did=did, token=token.to_bytes(32), **given)


def address(token: int, identifier: Identifier = MAIL, did: str = DID, most: int = 10, proof: int = 0) -> NewAddress:
    """Return an address that a DID's key adds; `proof` stands for an attestation, of which each token has its own."""
    return NewAddress(
        did=did, identifier=identifier, attestation=((proof or token).to_bytes(32), NOW + 300), ip="192.0.2.1",
        now=NOW + 10, token=token.to_bytes(32), until=NOW + 600, most=most,
    )  # fmt: skip


def sends(limit: int, subject: str = "192.0.2.1", window_s: int = 86400) -> Quota:
    return Quota(Counted.SENDS, subject, limit, window_s)


async def history(store: Store, identifier: Identifier = ANN) -> list[tuple[str, str]]:
    """Return the actions that the store tells of an identifier, each with the DID that it was about."""
    found: dict[str, Any] = await store.describe(identifier.channel.value, identifier.key) or {"history": []}
    return [(row["action"], row["did"]) for row in found["history"]]


def claims(facts: RegistrationFacts) -> Move:
    return Move.CLAIM if facts.claim is None else Move.CONTINUE


def goes_on(_facts: Any) -> Move:
    return Move.CONTINUE


async def outcomes(*requests: Awaitable[Any]) -> list[Any]:
    """Return the result, or the refusal, of each of the requests, which are made at once."""
    results = await asyncio.gather(*requests, return_exceptions=True)
    unexpected = [it for it in results if isinstance(it, Exception) and not isinstance(it, Refused | SnapshotRefused)]
    assert not unexpected, unexpected
    return list(results)


async def admitted(*requests: Awaitable[Any]) -> int:
    return sum(not isinstance(result, Exception) for result in await outcomes(*requests))
