"""Pairing over any channel that carries a JSON object there and one back.

    new device                                   device that holds the vault
    sync_init        -- session, key -->         sync_respond
    sync_compare     <-- key --
                     -- reveal -->               sync_compare, then its person types the new device's six digits
    sync_complete    <-- sealed vault --         sync_respond (only for the right digits)

The enclaves do the cryptography. The key of the new device is committed to before the other's is known, so that a man
in the middle has one guess at six digits; both people compare them, so that neither a vault nor a false one gets by.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.client.http.chain_transport import Face, answered
from holdfast.wire.client_errors import PluginCallError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.types import SyncCompleteResult
    from holdfast.client.vault.keys import KeyProvider

PROTOCOL = "/holdfast/sync/1.0.0"
LIFE_S = 300.0
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_REFUSED = {"error": "refused"}  # says nothing of what did not fit


class SyncRefused(ServiceError):
    """The pairing ended: the digits differ, a message was late, repeated or changed, or the other side said no."""


class Channel(Protocol):
    """A way to the device that holds the vault."""

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The other side's answer. Raises NetworkError."""
        ...


class Holder:
    """The device that holds the vault, for one pairing: `finished` when it is over, `released` when the vault went.

    Args:
        vault: an open vault, of either face.
        ask_digits: shown this device's six digits, answers those that the person reads on the new device; "" refuses.
    """

    def __init__(self, vault: Any, ask_digits: Callable[[str], Any]) -> None:
        self._vault, self._ask_digits = Face(vault), ask_digits
        self._session: str | None = None
        self._answered: set[str] = set()
        self._turn = asyncio.Lock()
        self.finished = False
        self.released = False

    async def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to one message; never raises for what a stranger sends."""
        if self._turn.locked():
            return _REFUSED
        async with self._turn:
            try:
                return await self._answer(message)
            except (PluginCallError, SyncRefused):
                self.finished = True
                return _REFUSED

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        step, session = _text(message, "step"), _text(message, "session_id")
        # Each step once, and all of one session: a repeated or foreign message ends the pairing.
        if self.finished or step in self._answered or (self._session or session) != session:
            raise SyncRefused("a message out of turn")
        self._session = session
        self._answered.add(step)
        if step == "hello":
            return await self._hello(session, _text(message, "public_key"))
        if step == "reveal" and "hello" in self._answered:
            return await self._release(session, _text(message, "reveal"))
        raise SyncRefused("a message out of turn")

    async def _hello(self, session: str, public_key: str) -> dict[str, Any]:
        result = _good(await self._vault.sync_respond(session, public_key=public_key))
        return {"public_key": result.public_key}

    async def _release(self, session: str, reveal: str) -> dict[str, Any]:
        shown = _good(await self._vault.sync_compare(session, reveal=reveal))
        typed = await answered(self._ask_digits, shown.code)
        if not typed:
            raise SyncRefused("the person said no")
        result = _good(await self._vault.sync_respond(session, code=str(typed).strip()))
        self.finished = self.released = True
        return {"encrypted_vault": result.encrypted_vault}


async def receive(
    vault: Any,
    channel: Channel,
    key: KeyProvider,
    show_digits: Callable[[str], Any],
    confirm: Callable[[str], Any],
) -> SyncCompleteResult:
    """On the new device: fetch the vault, wrap it for `key` and store it; it is open afterwards.

    Args:
        vault: a booted vault of either face with nothing in it.
        channel: the way to the device that holds the vault.
        key: opens the vault on this device from now on.
        show_digits: shows the six digits, before the other person types them.
        confirm: asked whether the other device shows the same six digits; anything false refuses.

    Raises:
        SyncRefused: the digits differ, the session is over, or the other side refused. Nothing is stored then.
        NetworkError: the channel failed.
    """
    try:
        return await _received(Face(vault), channel, key, show_digits, confirm)
    except PluginCallError as error:
        raise SyncRefused(f"the pairing ended ({error.code})") from error


async def _received(
    enclave: Face,
    channel: Channel,
    key: KeyProvider,
    show_digits: Callable[[str], Any],
    confirm: Callable[[str], Any],
) -> SyncCompleteResult:
    first = _good(await enclave.sync_init())
    session = first.session_id
    hello = await channel.ask({"step": "hello", "session_id": session, "public_key": first.public_key})
    shown = _good(await enclave.sync_compare(session, public_key=_text(hello, "public_key")))
    await answered(show_digits, shown.code)
    last = await channel.ask({"step": "reveal", "session_id": session, "reveal": shown.reveal})
    sealed = _text(last, "encrypted_vault")
    if not await answered(confirm, shown.code):
        raise SyncRefused("the digits differ")
    done: SyncCompleteResult = _good(await enclave.sync_complete(session, shown.code, sealed, key))
    return done


def _text(message: dict[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise SyncRefused("the other side refused")
    return value


def _good(result: Any) -> Any:
    if not result.success:
        raise SyncRefused(f"the pairing ended ({result.error})")
    return result
