"""Support for applications that store a key's second share outside the vault."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client.types import BinaryPayload, EncryptedShares
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from holdfast.client.types import GenerateOutputWithShares

ValShare = bytes | BinaryPayload
"""A sealed val share, 48 bytes, in any of the enclave's binary forms. `EncryptedShares.val_share` is one."""

ShareSource = Callable[[], ValShare]
"""Returns the sealed val share of the key behind the vault's DID, each time that key is used."""

ShareKeeper = Callable[[EncryptedShares], Any]
"""Stores `val_share` of new shares in the second place. It is called before the new revision is stored. If it raises,
the call ends and nothing is stored. The vault waits for it, so it must not change the vault."""


def with_share(options: dict[str, object], source: ShareSource | None) -> dict[str, object]:
    """Add the second share to a signing call's options, if they contain none and the DID's own key signs."""
    if source is None or "val_share" in options or "enclave_id" in options:
        return options
    return {**options, "val_share": source()}


def shares_of(made: GenerateOutputWithShares) -> EncryptedShares:
    """Return a new vault's shares. Raises PluginCallError if the enclave returned none."""
    if made.encrypted_shares is None:
        raise PluginCallError("generate", "no shares")
    return made.encrypted_shares
