"""One instance of the enclave's module: its linear memory, and calls that cross into it and back."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, TypeVar

import wasmtime

from holdfast.enclave import clock, module
from holdfast.wire.client_errors import PluginCallError, WasmLoadError

if TYPE_CHECKING:
    from holdfast.enclave.sources import Sources

T = TypeVar("T")

ABI = 1
MAX_MEMORY = 320 * 1024 * 1024  # Argon2id takes 64 MiB; the rest is for the largest vault
MAX_SECONDS = 30.0  # the longest honest call, Argon2id on a slow machine, takes less
_BUFFER = 64 * 1024
_ADDRESS_BITS = 32
_LENGTH_MASK = (1 << _ADDRESS_BITS) - 1


class Instance:
    """An instance with limited memory, whose calls have limited time. Not thread-safe: `Enclave` has the lock.

    Attributes:
        store: owns the instance's memory, and has its limits.
        memory: the linear memory, which holds an open vault's secrets.
        allocate: the module's function that returns the address of so many bytes, or 0.
        free: the module's function that frees the bytes at an address.
    """

    def __init__(self, loaded: wasmtime.Module, sources: Sources) -> None:
        self.store = wasmtime.Store(loaded_engine := module.engine())
        self.store.set_limits(memory_size=MAX_MEMORY)
        self.store.set_epoch_deadline(clock.ticks(MAX_SECONDS))
        exports = sources.link(loaded_engine).instantiate(self.store, loaded).exports(self.store)
        self.memory = _typed(exports["memory"], wasmtime.Memory)
        self.allocate = _typed(exports["enclave_alloc"], wasmtime.Func)
        self.free = _typed(exports["enclave_free"], wasmtime.Func)
        self._call = _typed(exports["enclave_call"], wasmtime.Func)
        _typed(exports["_initialize"], wasmtime.Func)(self.store)
        spoken = _typed(exports["enclave_abi"], wasmtime.Func)(self.store)
        if spoken != ABI:
            raise WasmLoadError(f"the module speaks ABI {spoken}, this host {ABI}")
        self._size, self._buffer = 0, 0
        self._make_room(_BUFFER)

    def call(self, name: bytes, arguments: bytes | bytearray) -> bytes:
        """Call a function with JSON fields, and return the JSON response. A trap raises what wasmtime raises."""
        self.store.set_epoch_deadline(clock.ticks(MAX_SECONDS))  # the previous deadline may be over
        self._make_room(len(name) + len(arguments))
        start = self._buffer
        self._write(start, name)
        self._write(start + len(name), arguments)  # written from the caller's buffer: no copy remains
        packed = self._call(self.store, start, len(name), start + len(name), len(arguments)) & (1 << 64) - 1
        return self._take_answer(packed >> _ADDRESS_BITS, packed & _LENGTH_MASK)

    def wipe(self) -> None:
        """Overwrite the memory with zeros."""
        ctypes.memset(self._base(), 0, self.memory.data_len(self.store))

    def _make_room(self, size: int) -> None:
        if size <= self._size:
            return
        if self._buffer:
            self.free(self.store, self._buffer, self._size)
        self._size, self._buffer = 0, 0
        wanted = max(size, _BUFFER)
        self._buffer = self.allocate(self.store, wanted) & _LENGTH_MASK
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
        return ctypes.addressof(self.memory.data_ptr(self.store).contents)

    def _at(self, address: int, length: int) -> int:
        if address + length > self.memory.data_len(self.store):
            raise IndexError("the module names memory that it does not have")  # never outside its sandbox
        return self._base() + address


def _typed(export: object, kind: type[T]) -> T:
    if not isinstance(export, kind):
        raise WasmLoadError(f"the module lacks a {kind.__name__.lower()} that the ABI promises")
    return export
