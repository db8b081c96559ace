"""Copies an enclave's linear memory for tests that search it for secrets, because the host offers no such function."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.enclave import Enclave


def memory_of(enclave: Enclave) -> bytes:
    """Return a copy of the whole memory, made without calling the module, or empty bytes if the enclave is closed."""
    with enclave._lock:
        if enclave._closed:
            return b""
        return bytes(enclave._memory.read(enclave._store, 0, enclave._memory.data_len(enclave._store)))


def limit_growth(enclave: Enclave, more: int = 0) -> None:
    """Let the memory grow by at most `more` bytes."""
    enclave._store.set_limits(memory_size=enclave._memory.data_len(enclave._store) + more)


def allocate(enclave: Enclave, size: int) -> int:
    """Allocate memory as the host does for a request; returns the address, or 0 if there is not enough."""
    return int(enclave._allocate(enclave._store, size))


def free(enclave: Enclave, address: int, size: int) -> None:
    """Free what `allocate` returned."""
    enclave._free(enclave._store, address, size)
