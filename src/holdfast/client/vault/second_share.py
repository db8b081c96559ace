"""A key's second share where the vault does not keep it: the application does, in a second place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client.types import BinaryPayload, EncryptedShares
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from holdfast.client.types import GenerateOutputWithShares

ValShare = bytes | BinaryPayload
"""A sealed val share, 48 bytes, in any of the enclave's binary forms: `EncryptedShares.val_share` is one."""

ShareSource = Callable[[], ValShare]
"""Fetches the sealed val share of the key that the vault's DID is made of, each time that key is used."""

ShareKeeper = Callable[[EncryptedShares], Any]
"""Puts `val_share` of new shares into the second place. It is called before the vault that needs it is stored; what
it raises ends the call, and nothing is stored then. The vault waits for it: it must not change the vault."""


def with_share(options: dict[str, Any], source: ShareSource | None) -> dict[str, Any]:
    """Options of a call that signs, with the second share where none is given and the DID's own key signs."""
    if source is None or "val_share" in options or "enclave_id" in options:
        return options
    return {**options, "val_share": source()}


def shares_of(made: GenerateOutputWithShares) -> EncryptedShares:
    """A new vault's shares. Raises PluginCallError where the enclave gave none."""
    if made.encrypted_shares is None:
        raise PluginCallError("generate", "no shares")
    return made.encrypted_shares
