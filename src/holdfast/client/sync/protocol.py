"""The pairing protocol, over any channel that sends a JSON object and returns the JSON response.

    new device                                   device that holds the vault
    sync_init        -- session, key -->         sync_respond
    sync_compare     <-- key --
                     -- reveal -->               sync_compare, then its person types the new device's six digits
    sync_complete    <-- the vault, record -- sync_respond (only for the right digits)

The vault is sent twice: encrypted for the new device, and sealed with the wraps of all passkeys and passwords, so that
each of these keys also unlocks what the new device stores and publishes. The record is the IPNS record of the vault's
last published snapshot, if there is one.

The enclaves do the cryptography. The new device commits to its key before it receives the other device's key, so an
attacker in the middle has only one guess at the six digits. People compare these digits, so an attacker in the middle
can neither obtain nor replace the vault.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from holdfast.client.callbacks import answered
from holdfast.client.sync.published import continue_from, published_record
from holdfast.wire.client_errors import PluginCallError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.client.types import SyncCompleteResult
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider


class _Result(Protocol):
    @property
    def success(self) -> bool: ...
    @property
    def error(self) -> str | None: ...


R = TypeVar("R", bound=_Result)

PROTOCOL = "/holdfast/sync/1.0.0"
LIFE_S = 300.0
MAX_MESSAGE_BYTES = 48 * 1024 * 1024  # a vault of 16 MiB twice, in base64
MAX_REQUEST_BYTES = 16 * 1024  # of what a new device sends: keys and names
NOT_TAKEN = "the other device has gone before it had everything: look there whether the vault has arrived"
_REFUSED = {"error": "refused"}  # deliberately does not say what was wrong with the message
REFUSED = msgspec.json.encode(_REFUSED)


class SyncRefused(ServiceError):
    """The pairing failed: the digits differ, a message was late, repeated or modified, or the other side refused."""


class PairingChannel(Protocol):
    """A pairing channel to the device that holds the vault."""

    async def ask(self, message: dict[str, object]) -> dict[str, object]:
        """Send a message and return the response. Raises NetworkError."""
        ...


class AsyncPairingServer:
    """The vault's side of a pairing: responds to the messages of one new device.

    `finished` is True when the pairing is over, `released` when the vault was sent.

    Args:
        vault: an unlocked vault.
        ask_digits: called with this device's six digits; returns those that the person reads on the new device, or
            "" to refuse.
    """

    def __init__(self, vault: AsyncVault, ask_digits: Callable[[str], object]) -> None:
        self._vault, self._ask_digits = vault, ask_digits
        self._session: str | None = None
        self._answered: set[str] = set()
        self._turn = asyncio.Lock()
        self._finished = False
        self._released = False

    @property
    def finished(self) -> bool:
        """Whether the pairing is over."""
        return self._finished

    @property
    def released(self) -> bool:
        """Whether the vault was sent to the new device."""
        return self._released

    async def answer(self, body: bytes) -> bytes:
        """Return the encoded response to an encoded message."""
        try:
            message = msgspec.json.decode(body, type=dict[str, Any])
        except (ValueError, RecursionError):
            return REFUSED
        return msgspec.json.encode(await self.handle(message))

    async def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the response to one message. Never raises, whatever the message contains."""
        if self._turn.locked():
            return _REFUSED
        async with self._turn:
            try:
                with _refusals():
                    return await self._answer(message)
            except ServiceError:
                # Whoever reaches this device can send a message, but only a pairing that has begun can end.
                self._finished = self._session is not None
                return _REFUSED

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        step, session = _given(message.get("step")), _given(message.get("session_id"))
        # Each step is accepted only once and only for one session: a repeated message, or one from a different session,
        # ends the pairing.
        if self._finished or step in self._answered or (self._session or session) != session:
            raise SyncRefused("the message is out of turn")
        if step == "hello":
            public_key = _given(message.get("public_key"))
            own = _good(await self._vault.sync_respond(session, public_key=public_key)).public_key
            self._session = session
            self._answered.add(step)
            return {"public_key": own}
        if step == "reveal" and self._session is not None:
            self._answered.add(step)
            return await self._release(session, _given(message.get("reveal")))
        raise SyncRefused("the message is out of turn")

    async def _release(self, session: str, reveal: str) -> dict[str, Any]:
        shown = _good(await self._vault.sync_compare(session, reveal=reveal))
        typed = await answered(self._ask_digits, _given(shown.code))
        if not typed:
            raise SyncRefused("the person refused")
        # The record is read before the vault is sealed, because a later snapshot may contain changes that the sent
        # vault lacks.
        record = await published_record(self._vault)
        result = _good(await self._vault.sync_respond(session, code=str(typed).strip()))
        self._finished = self._released = True
        sent = {"encrypted_vault": result.encrypted_vault, "sealed_vault": result.sealed_vault}
        return sent if record is None else {**sent, "record": record}


async def receive(
    vault: AsyncVault,
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
    with _refusals():
        first = _good(await vault.sync_init())
        session = _given(first.session_id)
        hello = await channel.ask({"step": "hello", "session_id": session, "public_key": first.public_key})
        shown = _good(await vault.sync_compare(session, public_key=_given(hello.get("public_key"))))
        digits = _given(shown.code)
        await answered(show_digits, digits)
        last = await channel.ask({"step": "reveal", "session_id": session, "reveal": shown.reveal})
        encrypted = _given(last.get("encrypted_vault"))
        sealed = _given(last["sealed_vault"]) if "sealed_vault" in last else ""  # earlier releases do not send it
        if not await answered(confirm, digits):
            raise SyncRefused("the digits differ")
        done = _good(await vault.sync_complete(session, digits, encrypted, key, sealed_vault=sealed))
        await continue_from(vault, last.get("record"))
        return done


@contextmanager
def _refusals() -> Iterator[None]:
    """Convert the enclave's errors."""
    try:
        yield
    except PluginCallError as error:
        raise SyncRefused(f"the pairing ended ({error.code})") from error


def _given(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise SyncRefused("the other side refused")
    return value


def _good(result: R) -> R:
    if not result.success:
        raise SyncRefused(f"the pairing ended ({result.error})")
    return result
