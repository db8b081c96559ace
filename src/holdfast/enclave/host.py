"""Runs an instance of the enclave in its own sandbox: one call at a time, with limited memory and time."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from holdfast.enclave import auto_lock, clock, module
from holdfast.enclave.instance import Instance
from holdfast.enclave.sources import Sources, encoded, wipe
from holdfast.wire.client_errors import PluginCallError, WasmLoadError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


class Enclave:
    """An instance of the enclave's module, with at most one vault. Thread-safe: calls run one after another.

    Args:
        path: a module to load instead of the bundled one.
        random: fills with cryptographic randomness; tests inject a fixed one.
        now: seconds since 1970; tests inject a fixed one.
        after: runs a function once after this many seconds and returns a function that cancels it; tests replace it.

    Attributes:
        instance: the module's instance; its memory holds the secrets of an open vault, and may be read between calls.

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
        self._dead = ""
        # Once an instance is no longer used, its timer must not keep a thread waiting.
        weakref.finalize(self, self._auto_lock.cancel).atexit = False
        loaded = module.load(path)
        clock.keep_ticking(module.engine(), self)
        try:
            self.instance = Instance(loaded, self._sources)
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
            self.instance.store.close()

    def left_behind(self) -> None:
        """Erase a forked child's copy of the instance, because only the parent's instance may hold the vault."""
        self._lock = threading.Lock()  # another thread of the parent may have held it
        if not self._dead and hasattr(self, "instance"):
            self._drop("left to the process that made it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _guarded(self, function: str, arguments: bytes | bytearray) -> bytes:
        if self._dead:
            raise PluginCallError(function, self._dead)
        name = function.encode()
        try:
            answer = self.instance.call(name, arguments)
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

    def _drop(self, why: str) -> None:
        self._dead = why
        self._auto_lock.cancel()
        self.instance.wipe()


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
