"""Addresses that a person adds to their DID, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.additions import Addition
from holdfast.rules.bans import subjects_of
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import call, claim_key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.store.persons import NewAddress


def _add_address(batch: Sequence[NewAddress]) -> list[Any]:
    one = batch[0]
    signature, signature_until = one.attestation
    return [
        *(shard_of(one.did), one.did),
        *(*claim_key_of(one.identifier), one.identifier.given, one.ip),
        *(shard_of(signature), signature, signature_until),
        *(shard_of(one.token), one.token, one.until),
        *(one.most, one.now, list(subjects_of(one.identifier, one.did, one.network))),
    ]


ADD_ADDRESS = Kind(
    "add_address",
    call("add_address_v1", 16),
    _add_address,
    lambda _batch, rows: [Addition(rows[0][0])],
    1,
    repeatable=True,
)
