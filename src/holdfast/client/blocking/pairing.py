"""`PairingServer`, the blocking form of `AsyncPairingServer`.

Written by `tools/blocking_client.py` from `holdfast/client/sync/protocol.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.blocking.loop import run
from holdfast.client.sync import protocol
from holdfast.client.sync.protocol import AsyncPairingServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.blocking.vault import Vault
    from holdfast.client.sync.protocol import PairingChannel
    from holdfast.client.types import SyncCompleteResult
    from holdfast.client.vault.keys import KeyProvider


class PairingServer:
    """The vault's side of a pairing: responds to the messages of one new device.

    `finished` is True when the pairing is over, `released` when the vault was sent.

    Args:
        vault: an unlocked vault.
        ask_digits: called with this device's six digits; returns those that the person reads on the new device, or
            "" to refuse.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncPairingServer

    def __init__(self, vault: Vault, ask_digits: Callable[[str], object]) -> None:
        self._asynchronous = AsyncPairingServer(vault._asynchronous, ask_digits)

    @property
    def finished(self) -> bool:
        """Whether the pairing is over."""
        return self._asynchronous.finished

    @property
    def released(self) -> bool:
        """Whether the vault was sent to the new device."""
        return self._asynchronous.released

    def answer(self, body: bytes) -> bytes:
        """Return the encoded response to an encoded message."""
        return run(self._asynchronous.answer(body))

    def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the response to one message. Never raises, whatever the message contains."""
        return run(self._asynchronous.handle(message))


def receive(
    vault: Vault,
    channel: PairingChannel,
    key: KeyProvider,
    show_digits: Callable[[str], object],
    confirm: Callable[[str], object],
) -> SyncCompleteResult:
    """Receive the vault on the new device, wrap it for `key` and store it. It is unlocked afterwards.

    Args:
        vault: a booted vault object that contains no vault yet.
        channel: the channel to the device that holds the vault.
        key: the key that unlocks the vault on this device from now on.
        show_digits: shows the six digits, before the person types them on the other device.
        confirm: returns whether the other device shows the same six digits; a false value refuses.

    Raises:
        SyncRefused: the digits differ, the pairing is over, or the other side refused. Nothing is stored.
        NetworkError: the channel failed.
    """
    return run(protocol.receive(vault._asynchronous, channel, key, show_digits, confirm))
