"""Runs an instance of the enclave in its own sandbox: one call at a time, with limited memory and time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
import wasmtime

from holdfast.enclave import auto_lock, clock, module
from holdfast.enclave.sources import Sources, encoded, wipe
from holdfast.wire.client_errors import PluginCallError, WasmLoadError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

ABI = 1
MAX_MEMORY = 320 * 1024 * 1024  # Argon2id takes 64 MiB; the rest is for the largest vault
MAX_SECONDS = 30.0  # the longest honest call, Argon2id on a slow machine, takes less
_BUFFER = 64 * 1024
_ADDRESS_BITS = 32
_LENGTH_MASK = (1 << _ADDRESS_BITS) - 1


class Enclave:
    """An instance of the enclave's module, with at most one vault. Thread-safe: calls run one after another.

    Args:
        path: a module to load instead of the bundled one.
        random: fills with cryptographic randomness; tests inject a fixed one.
        now: seconds since 1970; tests inject a fixed one.
        after: runs a function once after this many seconds and returns a function that cancels it; tests replace it.

    Raises:
        WasmLoadError: the module cannot be loaded, or speaks another ABI.
    """

    on_locked: Callable[[], None] | None = None
    """Called in the timer's thread after an idle vault was locked."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        random: Callable[[int], bytes] = os.urandom,
        now: Callable[[], float] = time.time,
        after: auto_lock.After = auto_lock.after,
    ) -> None:
        self._lock = threading.Lock()
        self._sources = Sources(random, now)
        self._auto_lock = auto_lock.AutoLock(now, after)
        self._dead, self._closed = "", False
        # Once an instance is no longer used, its timer must not keep a thread waiting.
        weakref.finalize(self, self._auto_lock.cancel).atexit = False
        loaded = module.load(path)
        try:
            self._start(loaded)
        except WasmLoadError:
            raise
        except Exception as error:  # a foreign module may make the runtime or this host raise anything
            raise WasmLoadError(str(error).split("\n", 1)[0]) from error

    def call(self, function: str, /, **fields: object) -> dict[str, Any]:
        """Call a function of enclave/ABI.md. `bytes` are sent as base64; None counts as absent.

        Raises:
            PluginCallError: the function refused the call (`code` says why), or the instance is closed.
        """
        return self.call_as(dict[str, Any], function, **fields)

    def call_as(self, kind: type[T], function: str, /, **fields: object) -> T:
        """Make a call as `call` does, and decode the response as `kind` (a msgspec Struct, a TypedDict, ...)."""
        arguments = encoded(fields)
        try:
            answer = self.call_raw(function, arguments)
        finally:
            wipe(arguments)  # they may include a key or a password
        if answer.startswith(b'{"error":{'):
            refusal = msgspec.json.decode(answer, type=_Refusal).error
            raise PluginCallError(function, refusal.message, refusal.code)
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise PluginCallError(function, "unexpected answer") from error

    def call_raw(self, function: str, arguments: bytes | bytearray) -> bytes:
        """Make a call with JSON fields, and return the JSON response, which may be an error.

        Raises PluginCallError if the instance is discarded. The caller must overwrite any secrets in the arguments
        afterwards.
        """
        with self._lock:
            answer = self._guarded(function, arguments)
            if function in auto_lock.OPENING:
                self._watch()
            return answer

    def close(self) -> None:
        """Wipe and release the instance's memory. Repeated calls have no effect."""
        with self._lock:
            if not self._dead:
                self._drop("closed")
            self._closed = True
            self._store.close()

    def left_behind(self) -> None:
        """Erase a forked child's copy of the instance, because only the parent's instance may hold the vault."""
        self._lock = threading.Lock()  # another thread of the parent may have held it
        if not self._dead and hasattr(self, "_memory"):
            self._drop("left to the process that made it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, loaded: wasmtime.Module) -> None:
        self._store = wasmtime.Store(loaded_engine := module.engine())
        self._store.set_limits(memory_size=MAX_MEMORY)
        clock.keep_ticking(loaded_engine, self)
        self._store.set_epoch_deadline(clock.ticks(MAX_SECONDS))
        exports = self._sources.link(loaded_engine).instantiate(self._store, loaded).exports(self._store)
        self._memory = _typed(exports["memory"], wasmtime.Memory)
        self._allocate = _typed(exports["enclave_alloc"], wasmtime.Func)
        self._free = _typed(exports["enclave_free"], wasmtime.Func)
        self._call = _typed(exports["enclave_call"], wasmtime.Func)
        _typed(exports["_initialize"], wasmtime.Func)(self._store)
        spoken = _typed(exports["enclave_abi"], wasmtime.Func)(self._store)
        if spoken != ABI:
            raise WasmLoadError(f"the module speaks ABI {spoken}, this host {ABI}")
        self._size, self._buffer = 0, 0
        self._make_room(_BUFFER)

    def _guarded(self, function: str, arguments: bytes | bytearray) -> bytes:
        if self._dead:
            raise PluginCallError(function, self._dead)
        name = function.encode()
        try:
            answer = self._cross(name, arguments)
        except PluginCallError:
            raise
        except Exception as error:  # a trap, or a clock that raises: the call did not end properly
            self._drop("stopped by a trap")
            raise PluginCallError(function, "the enclave stopped and was discarded") from error
        self._sources.raise_interrupt()
        return answer

    def _watch(self) -> None:
        # `status` does not count as activity, and like any call it locks a vault whose idle period is over.
        status = self._guarded("status", b"{}")
        self._auto_lock.arm(status, partial(_look, weakref.ref(self)))

    def _cross(self, name: bytes, arguments: bytes | bytearray) -> bytes:
        self._store.set_epoch_deadline(clock.ticks(MAX_SECONDS))  # the previous deadline may be over
        self._make_room(len(name) + len(arguments))
        start = self._buffer
        self._write(start, name)
        self._write(start + len(name), arguments)  # written from the caller's buffer: no copy remains
        packed = self._call(self._store, start, len(name), start + len(name), len(arguments)) & (1 << 64) - 1
        return self._take_answer(packed >> _ADDRESS_BITS, packed & _LENGTH_MASK)

    def _make_room(self, size: int) -> None:
        if size <= self._size:
            return
        if self._buffer:
            self._free(self._store, self._buffer, self._size)
        self._size, self._buffer = 0, 0
        wanted = max(size, _BUFFER)
        self._buffer = self._allocate(self._store, wanted) & _LENGTH_MASK
        if not self._buffer:
            raise PluginCallError("enclave_alloc", "not enough memory for the input", "out_of_memory")
        self._size = wanted

    def _write(self, address: int, data: bytes | bytearray) -> None:
        source = (ctypes.c_char * len(data)).from_buffer(data) if isinstance(data, bytearray) else data
        ctypes.memmove(self._at(address, len(data)), source, len(data))

    def _take_answer(self, address: int, length: int) -> bytes:
        start = self._at(address, length)
        answer = ctypes.string_at(start, length)
        ctypes.memset(start, 0, length)  # the module would wipe it only at the next call
        return answer

    def _base(self) -> int:
        # The memory's address is read each time, because memory may move when it grows.
        return ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def _at(self, address: int, length: int) -> int:
        if address + length > self._memory.data_len(self._store):
            raise IndexError("the module names memory that it does not have")  # never outside its sandbox
        return self._base() + address

    def _drop(self, why: str) -> None:
        self._dead = why
        self._auto_lock.cancel()
        ctypes.memset(self._base(), 0, self._memory.data_len(self._store))


class _Reason(msgspec.Struct):
    code: str
    message: str


class _Refusal(msgspec.Struct):
    error: _Reason


def _look(reference: weakref.ref[Enclave]) -> None:
    # The timer has only a weak reference, so that it does not keep an unused instance alive.
    enclave = reference()
    if enclave is None:
        return
    with enclave._lock, contextlib.suppress(PluginCallError):  # noqa: SLF001 - the instance's own timer
        enclave._watch()  # noqa: SLF001 - as above
    if enclave.on_locked is not None and not enclave._auto_lock.is_armed:  # noqa: SLF001 - as above
        enclave.on_locked()


def _typed(export: object, kind: type[T]) -> T:
    if not isinstance(export, kind):
        raise WasmLoadError(f"the module lacks a {kind.__name__.lower()} that the ABI promises")
    return export
