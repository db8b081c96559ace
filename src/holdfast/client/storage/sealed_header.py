"""Reads the unencrypted header of a sealed vault (docs/formats.md): its revision, DID and wraps."""

from __future__ import annotations

from holdfast.wire.client_errors import PluginCallError

HEADER_BYTES = 44  # the bytes before the DID
_MAGIC = b"HFDB"
_DID_LENGTH = slice(6, 8)
_REVISION = slice(8, 16)
_WRAP_COUNT = 5
_OTHER_FORM = "the bytes are not a sealed vault in the documented form"
_WRAP_REST = 16 + 12 + 12 + 48  # salt, Argon2id's parameters, nonce, sealed data key
_KINDS = {1: "secret", 2: "prf", 3: "password"}


def is_sealed_vault(data: bytes) -> bool:
    """Return whether the bytes begin like a sealed vault."""
    return data.startswith(_MAGIC)


def revision_of(sealed: bytes) -> int:
    """Return the revision in a sealed vault's unencrypted header. Raises PluginCallError for other bytes."""
    header = sealed[: _REVISION.stop]
    if len(header) < _REVISION.stop or not is_sealed_vault(header):
        raise PluginCallError("save", _OTHER_FORM)
    return int.from_bytes(header[_REVISION])


def did_of(sealed: bytes) -> str:
    """Return the DID in a sealed vault's unencrypted header. Raises PluginCallError for other bytes."""
    return sealed[HEADER_BYTES : _after_did(sealed)].decode("utf-8", "replace")


def wrap_names(sealed: bytes) -> list[tuple[str, str]]:
    """Return the kind and ID of each key that unlocks a sealed vault. Raises PluginCallError for other bytes."""
    return [(kind, key_id) for kind, key_id, _ in wraps_of(sealed)]


def wraps_of(sealed: bytes) -> list[tuple[str, str, bytes]]:
    """Return the kind, the ID and the bytes of each wrap of a sealed vault. Raises PluginCallError for other bytes."""
    position, wraps = _after_did(sealed), []
    for _ in range(sealed[_WRAP_COUNT]):
        name_end = position + 2 + int.from_bytes(sealed[position + 1 : position + 2])
        end = name_end + _WRAP_REST
        if end > len(sealed):
            raise PluginCallError("load", _OTHER_FORM)
        name = sealed[position + 2 : name_end].decode("utf-8", "replace")
        wraps.append((_KINDS.get(sealed[position], ""), name, sealed[position:end]))
        position = end
    return wraps


def _after_did(sealed: bytes) -> int:
    end = HEADER_BYTES + int.from_bytes(sealed[_DID_LENGTH])
    if not is_sealed_vault(sealed) or len(sealed) < end:
        raise PluginCallError("load", _OTHER_FORM)
    return end
