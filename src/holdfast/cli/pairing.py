"""Both sides of `holdfast vault pair`, with prompts on a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli import client_vault as common

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from holdfast.client.blocking.pairing import PairingServer
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.sync.protocol import PairingChannel
    from holdfast.client.vault.keys import KeyProvider

_LOOK_S = 0.1
_SEED_BYTES = 32


def give(vault: Vault, *, host: str | None, libp2p: bool) -> dict[str, object]:
    """Offer the vault to a new device until the vault has been sent or the pairing refused.

    Raises SyncRefused, NetworkError.
    """
    import time

    from holdfast.client.blocking.pairing import PairingServer
    from holdfast.client.sync.protocol import LIFE_S, SyncRefused

    server = PairingServer(vault, _typed)
    deadline = time.monotonic() + LIFE_S
    with _offer(server, vault, host=host, libp2p=libp2p) as address:
        _show(address)
        while not server.finished:
            if time.monotonic() > deadline:  # an answer may still wait for the person
                raise SyncRefused("the vault was not sent")
            time.sleep(_LOOK_S)
    if not server.released:
        raise SyncRefused("the vault was not sent")
    return {"did": vault.status().did, "given": True}


def take(link: str, folder: Path | None, key: str, service: str) -> dict[str, object]:
    """Receive a vault from another device, given its link or multiaddress. Raises SyncRefused, NetworkError."""
    from holdfast.client.blocking.pairing import receive

    with common.new_vault(folder) as (store, vault):
        opener = _new_key(key, service, store)
        done = receive(vault, _channel(link), opener, _show_digits, _confirmed)
        return {"did": done.did, "received": True}


def _new_key(key: str, service: str, store: VaultStore) -> KeyProvider:
    """Ask for the key that will open the vault, before the other device gives it: a weak password is refused here."""
    from holdfast.client.vault.keys import KnownKey

    return KnownKey(common.key_provider(key, service, store, new=True).host_key())


def wait_and_take(folder: Path | None, key: str, service: str, *, host: str | None) -> dict[str, object]:
    """Wait until a browser offers its vault, and receive the vault. Raises SyncRefused, NetworkError."""
    import secrets

    from holdfast.client.blocking.pairing import receive
    from holdfast.client.sync.libp2p_meeting import Libp2pMeeting, MeetingChannel

    listen, meeting = f"/ip4/{host or '127.0.0.1'}/tcp/0/ws", secrets.token_urlsafe(16)
    with common.new_vault(folder) as (store, vault):
        opener = _new_key(key, service, store)
        with Libp2pMeeting(log=vault.boot_log, listen=listen, only=meeting) as meetings:
            common.say(f"in the browser, at “Pair another device”:  {meetings.address}#{meeting}")
            _wait_for(lambda: meetings.waits(meeting))
            done = receive(vault, MeetingChannel(meetings, meeting), opener, _show_digits, _confirmed)
            meetings.finish()
            return {"did": done.did, "received": True}


def host_meetings(listen: str, identity: Path, tell: Callable[[dict[str, str]], None]) -> None:
    """Run a meeting host, through which browsers pair, until it is interrupted.

    Raises NetworkError; ValueError for a file without an identity.
    """
    import signal
    from threading import Event

    from holdfast.client.sync.libp2p_meeting import Libp2pMeeting

    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with Libp2pMeeting(listen=listen, seed=_seed(identity)) as meetings:
        tell({"address": meetings.address})
        ended.wait()


def _seed(file: Path) -> bytes:
    """Return the 32-byte seed of the host's identity from the file, generating it on the first start."""
    import secrets

    from holdfast.client.storage.private_files import read_private, write_private

    if not file.exists():
        write_private(file, secrets.token_bytes(_SEED_BYTES), replace=False)
    try:
        seed = read_private(file)
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from error
    if len(seed) != _SEED_BYTES:
        raise ValueError(f"{file} does not hold a host's identity: {_SEED_BYTES} bytes are needed")
    return seed


def _wait_for(happened: Callable[[], bool]) -> None:
    import time

    from holdfast.client.sync.protocol import LIFE_S
    from holdfast.wire.client_errors import NetworkError

    deadline = time.monotonic() + LIFE_S
    while not happened():
        if time.monotonic() > deadline:
            raise NetworkError("no other device came")
        time.sleep(_LOOK_S)


def _offer(server: PairingServer, vault: Vault, *, host: str | None, libp2p: bool) -> AbstractContextManager[str]:
    from contextlib import contextmanager

    from holdfast.client.sync.http_link import HttpOffer, local_address
    from holdfast.client.sync.libp2p_host import Libp2pOffer

    @contextmanager
    def offered() -> Any:
        if libp2p:
            listen = f"/ip4/{host or local_address()}/tcp/0/ws"
            with Libp2pOffer(server, log=vault.boot_log, listen=listen) as offer:
                yield offer.address
        else:
            try:
                made = HttpOffer(server, host=host)
            except OSError as error:
                raise ValueError(f"--host: this computer cannot listen there ({error.strerror})") from error
            with made as offer:
                yield offer.link

    return offered()


def _channel(link: str) -> PairingChannel:
    if link.startswith("/"):
        from holdfast.client.sync.libp2p_host import Libp2pChannel

        return Libp2pChannel(link)
    from holdfast.client.sync.http_link import HttpChannel

    return HttpChannel(link)


def _show(address: str) -> None:
    from holdfast.client.sync.qr import qr_text

    common.say(qr_text(address))
    common.say(f"on the new device:  holdfast vault pair {address}")


def _typed(digits: str) -> str:
    # This device shows its digits only afterwards, so that no one copies them from here instead of the new device.
    try:
        typed = str(typer.prompt("the new device shows", err=True, default="", show_default=False)).strip()
    except typer.Abort:  # raised in a thread that serves the new device, where only a refusal ends the pairing
        return ""
    if typed == digits:
        _show_digits(digits)
    return typed


def _show_digits(digits: str) -> None:
    common.say(f"this device shows    {digits}")


def _confirmed(_digits: str) -> bool:
    return bool(typer.confirm("does the other device show the same?", err=True))
