"""What a sealed vault says in the clear (docs/formats.md): its revision, and whose it is."""

from __future__ import annotations

from holdfast.wire.client_errors import PluginCallError

HEADER_BYTES = 44  # everything before the DID
_MAGIC = b"HFDB"
_DID_LENGTH = slice(6, 8)
_REVISION = slice(8, 16)


def is_sealed_vault(data: bytes) -> bool:
    """Whether the bytes begin as a sealed vault does."""
    return data.startswith(_MAGIC)


def revision_of(sealed: bytes) -> int:
    """The revision in a sealed vault's clear header. Raises PluginCallError for other bytes."""
    header = sealed[: _REVISION.stop]
    if len(header) < _REVISION.stop or not is_sealed_vault(header):
        raise PluginCallError("save", "the sealed vault has another form than documented")
    return int.from_bytes(header[_REVISION])


def did_of(sealed: bytes) -> str:
    """Whose sealed vault it is, by its clear header. Raises PluginCallError for other bytes."""
    length = int.from_bytes(sealed[_DID_LENGTH])
    did = sealed[HEADER_BYTES : HEADER_BYTES + length]
    if not is_sealed_vault(sealed) or len(did) != length:
        raise PluginCallError("load", "the sealed vault has another form than documented")
    return did.decode("utf-8", "replace")
