"""Pairing over libp2p (WebSockets).

The libp2p host starts on demand, in a separate thread, because py-libp2p runs on trio.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from functools import partial
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, Protocol, Self

import msgspec

from holdfast.client.installed import not_installed
from holdfast.client.sync.protocol import LIFE_S, MAX_MESSAGE_BYTES, MAX_REQUEST_BYTES, NOT_TAKEN, PROTOCOL, REFUSED
from holdfast.client.sync.serving import Answering, answer_of, can_wait
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.connection_errors import failed_connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from ipaddress import IPv4Address, IPv6Address

    from trio.lowlevel import TrioToken

    from holdfast.client.sync.protocol import AsyncPairingServer
    from holdfast.client.vault.boot import BootLog

LENGTH_BYTES = 4
_CHUNK_BYTES = 64 * 1024
FIRST_S = 10.0  # for a stream's first message
MAX_STREAMS, MAX_STREAMS_EACH = 256, 16  # open at once: in all, and from one peer
_CONNECT_S = 30.0
_LOOK_S, _FINISH_S = 0.05, 30.0
LOOPBACK = "/ip4/127.0.0.1/tcp/0/ws"
_NO_LOG = logging.NullHandler()


class Stream(Protocol):
    """What is used of libp2p's streams."""

    muxed_conn: Any

    async def read(self, n: int) -> bytes:
        """Return at most `n` bytes; no bytes at the end."""

    async def write(self, data: bytes) -> None:
        """Send all bytes."""

    async def close(self) -> None:
        """End the stream."""

    async def reset(self) -> None:
        """End the stream after an error."""


class StreamCount:
    """The open streams, by peer."""

    def __init__(self) -> None:
        self._open = Counter[str]()

    @property
    def total(self) -> int:
        """How many are open."""
        return self._open.total()

    @contextmanager
    def counted(self, peer: str) -> Iterator[None]:
        """Count a stream until the block ends. Raises NetworkError if too many are open."""
        if self.total >= MAX_STREAMS or self._open[peer] >= MAX_STREAMS_EACH:
            raise NetworkError("too many streams are open")
        self._open[peer] += 1
        try:
            yield
        finally:
            self._open -= Counter((peer,))  # which drops what is zero


class Libp2pHost:
    """A libp2p host that runs in a separate thread until the `with` block ends. Subclasses define its protocols.

    Args:
        log: the vault's boot log, which records whether the host started.
        listen: a WebSocket multiaddress to listen on.
        seed: 32 bytes from which the host's identity is derived, for a permanent address; random by default.

    Raises NetworkError if the host does not start; the boot log records that too.
    """

    def __init__(self, *, log: BootLog | None = None, listen: str = LOOPBACK, seed: bytes | None = None) -> None:
        self._log, self._listen, self._seed = log, listen, seed
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._up = threading.Event()
        self._failure: Exception | None = None
        self._address = ""
        self._streams = StreamCount()
        self._token: TrioToken | None = None  # of the running host

    @property
    def address(self) -> str:
        """The multiaddress that other devices dial; it ends with this host's peer ID."""
        return self._address

    def __enter__(self) -> Self:
        if self._log is None:
            self._start()
        else:
            with self._log.starting("libp2p", required=True):
                self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        import trio

        trio.from_thread.run_sync(self._stop.set, trio_token=self._token)
        self._thread.join()

    def finish(self) -> None:
        """Wait until the other devices have ended their streams, and so have taken every answer; at most 30 seconds."""
        end = time.monotonic() + _FINISH_S
        while self._streams.total and time.monotonic() < end:
            time.sleep(_LOOK_S)

    def handlers(self) -> dict[str, Callable[[Stream], Awaitable[None]]]:
        """Return the protocols that the host supports, with their stream handlers, each wrapped by `guarded`."""
        raise NotImplementedError

    def guarded(self, answer: Callable[[Stream], Awaitable[None]]) -> Callable[[Stream], Awaitable[None]]:
        """Return a stream handler that limits time and number of the streams that `answer` serves.

        An error, of which py-libp2p raises many kinds, ends the stream alone.
        """
        return partial(self._served, answer)

    async def _served(self, answer: Callable[[Stream], Awaitable[None]], stream: Stream) -> None:
        import trio

        try:
            with self._streams.counted(peer_of(stream)), trio.fail_after(FIRST_S + LIFE_S):
                await answer(stream)
                await stream.close()
        except Exception:  # noqa: BLE001 - see above
            await stream.reset()

    def _start(self) -> None:
        self._thread.start()
        self._up.wait()
        if self._failure is not None:
            raise network_error("libp2p did not start", self._failure) from self._failure

    def _run(self) -> None:
        try:
            import trio  # imported only here, because it takes four seconds

            trio.run(self._serve)
        except Exception as error:  # noqa: BLE001 - passed on to the thread that waits
            self._failure = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        import trio
        from libp2p.custom_types import TProtocol
        from multiaddr import Multiaddr  # type: ignore[import-untyped]  # published without type information

        self._token, self._stop = trio.lowlevel.current_trio_token(), trio.Event()
        host = _new_host(self._seed)
        for protocol, answer in self.handlers().items():
            host.set_stream_handler(TProtocol(protocol), answer)
        async with host.run(listen_addrs=[Multiaddr(self._listen)]):
            self._address = str(host.get_addrs()[0])
            self._up.set()
            await self._stop.wait()


class Libp2pOffer(Libp2pHost):
    """Offers a pairing at `address` until the `with` block ends.

    Args:
        server: responds to the pairing's messages.
        log: the vault's boot log, which records whether a host started.
        listen: a WebSocket multiaddress to listen on.
        loop: the event loop of an asyncio vault; not needed for a blocking one.

    Raises NetworkError if the host does not start, which the boot log records too, and at the end if an answer could
    not be sent.
    """

    def __init__(
        self,
        server: Answering | AsyncPairingServer,
        *,
        log: BootLog | None = None,
        listen: str = LOOPBACK,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(log=log, listen=listen)
        self._answer, self._has_failed = answer_of(server, loop), False
        self._can_wait = partial(can_wait, server, loop)

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        if kind is None and self._can_wait():
            self.finish()
        super().__exit__(kind, *more)
        if kind is None and self._has_failed:
            raise NetworkError(NOT_TAKEN)

    def handlers(self) -> dict[str, Callable[[Stream], Awaitable[None]]]:
        """See Libp2pHost."""
        return {PROTOCOL: self.guarded(self._on_stream)}

    async def _on_stream(self, stream: Stream) -> None:
        import trio

        answer = await trio.to_thread.run_sync(self._answer, await read_first(stream))
        try:
            await write_message(stream, answer)
        except BaseException:
            self._has_failed |= answer != REFUSED  # which a stranger may get
            raise
        # The device ends the stream once it has everything: py-libp2p drops what is unread when the host ends.
        with trio.move_on_after(_FINISH_S), suppress(Exception):
            await stream.read(1)


class Libp2pChannel:
    """The new device's pairing channel to a libp2p host, given the host's address."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def ask(self, message: dict[str, object]) -> dict[str, object]:
        """See PairingChannel."""
        body = msgspec.json.encode(message)
        try:
            return msgspec.json.decode(await asyncio.to_thread(self._exchange, body), type=dict[str, Any])
        except Exception as error:
            # py-libp2p raises many kinds of errors, including exception groups.
            raise network_error("the other device does not answer", error) from error

    def _exchange(self, body: bytes) -> bytes:
        import trio

        return trio.run(self._response, body)

    async def _response(self, body: bytes) -> bytes:
        import trio
        from libp2p.custom_types import TProtocol
        from libp2p.peer.peerinfo import info_from_p2p_addr
        from multiaddr import Multiaddr

        host, peer = _new_host(), info_from_p2p_addr(Multiaddr(self._address))
        async with host.run(listen_addrs=[]):
            with trio.fail_after(_CONNECT_S):
                await host.connect(peer)
                stream = await host.new_stream(peer.peer_id, [TProtocol(PROTOCOL)])
            with trio.fail_after(LIFE_S):
                await write_message(stream, body)
                answer = await read_message(stream)
            await stream.close()
            await host.close()
            return answer


def network_error(what: str, error: BaseException) -> NetworkError:
    """Convert an exception from py-libp2p to one of the client's errors.

    For a missing package, the message says how to install it.
    """
    if isinstance(error, ModuleNotFoundError):
        return NetworkError(not_installed())
    return NetworkError(failed_connection(what, error))


def peer_of(stream: Stream) -> str:
    """Return what a stream counts for: the client's address (IPv6: its /64), else its peer ID.

    An address that is not public may be that of a proxy, through which all clients connect.
    """
    address = remote_address(stream)
    if address is None or not address.is_global:
        return str(stream.muxed_conn.peer_id)
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))  # noqa: PLR2004


def remote_address(stream: Stream) -> IPv4Address | IPv6Address | None:
    """Return the address of a stream's other end, or None if it is unknown."""
    try:
        # `get_remote_address` of py-libp2p returns None for WebSockets.
        return ip_address(stream.muxed_conn.secured_conn.conn.conn.stream._ws_connection.remote.address)  # noqa: SLF001
    except (AttributeError, ValueError):
        return None


def _new_host(seed: bytes | None = None) -> Any:
    from libp2p import new_host
    from libp2p.crypto.ed25519 import create_new_key_pair as ed25519_key_pair
    from libp2p.crypto.x25519 import create_new_key_pair
    from libp2p.custom_types import TProtocol
    from libp2p.security.noise.transport import PROTOCOL_ID, Transport

    # libp2p means to write no log unless LIBP2P_DEBUG is set, but without a handler Python prints its tracebacks. What
    # fails is raised as an error.
    logging.getLogger("libp2p").addHandler(_NO_LOG)
    # Only Noise is offered, because it authenticates the peer ID in the address. By default, py-libp2p also offers
    # secio and plain text; neither authenticates the peer, and an attacker in the middle could choose either.
    identity = ed25519_key_pair(seed)
    noise = Transport(identity, noise_privkey=create_new_key_pair().private_key)
    secured = {TProtocol(PROTOCOL_ID): noise}
    return new_host(key_pair=identity, sec_opt=secured, enable_websocket=True, enable_tcp=False)


async def read_first(stream: Stream) -> bytes:
    """Read the first message of a stream that anyone may have opened. Raises NetworkError, trio.TooSlowError."""
    import trio

    with trio.fail_after(FIRST_S):
        return await read_message(stream, MAX_REQUEST_BYTES)


async def read_message(stream: Stream, limit: int = MAX_MESSAGE_BYTES) -> bytes:
    """Read one message: a four-byte big-endian length, followed by that many bytes. Raises NetworkError."""
    return await _read_exactly(stream, int.from_bytes(await _read_length(stream, limit)))


async def copy_message(stream: Stream, write: Callable[[bytes], Awaitable[None]]) -> None:
    """Pass on one message with its length, in pieces as they arrive. Raises NetworkError, and what `write` raises."""
    head = await _read_length(stream, MAX_MESSAGE_BYTES)
    await write(head)
    rest = int.from_bytes(head)
    while rest:
        chunk = await _read_some(stream, rest)
        await write(chunk)
        rest -= len(chunk)


async def _read_length(stream: Stream, limit: int) -> bytes:
    head = await _read_exactly(stream, LENGTH_BYTES)
    if int.from_bytes(head) > limit:
        raise NetworkError("a message is too long")
    return head


async def _read_exactly(stream: Stream, length: int) -> bytes:
    read = bytearray()
    while len(read) < length:
        read += await _read_some(stream, length - len(read))
    return bytes(read)


async def _read_some(stream: Stream, most: int) -> bytes:
    chunk = await stream.read(min(most, _CHUNK_BYTES))
    if not chunk:
        raise NetworkError("the other device closed the connection")
    return chunk


async def write_message(stream: Stream, body: bytes) -> None:
    """Write one message in the format that `read_message` reads."""
    await stream.write(len(body).to_bytes(LENGTH_BYTES) + body)
