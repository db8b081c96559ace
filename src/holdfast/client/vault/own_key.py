"""Finds, among the keys of a vault, the one whose hash is the vault's DID."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.keccak import did_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_UNCOMPRESSED, _COORDINATE_BYTES = 0x04, 32


@dataclass(frozen=True, slots=True)
class OwnKey:
    """The key that proves a vault's DID. `curve` is "P-256" or "secp256k1"."""

    curve: str
    x: int
    y: int

    @property
    def point(self) -> bytes:
        """The key as an uncompressed point (SEC 1, section 2.3.3)."""
        return bytes([_UNCOMPRESSED]) + self.x.to_bytes(_COORDINATE_BYTES) + self.y.to_bytes(_COORDINATE_BYTES)


def key_of(did: str, rows: Iterable[Mapping[str, str]]) -> OwnKey:
    """Return the key of the DID from the rows of `enclaves`, which are the vault's keys. Raises PluginCallError."""
    for row in rows:
        point = bytes.fromhex(row["public_key"])[1:]
        key = OwnKey(row["curve"], int.from_bytes(point[:_COORDINATE_BYTES]), int.from_bytes(point[_COORDINATE_BYTES:]))
        if did_of_key(key.x, key.y) == did:
            return key
    raise PluginCallError("exec", "the vault has no key of its DID", "not_found")
