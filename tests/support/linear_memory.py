"""What an enclave's linear memory contains, for tests that search it for secrets; the host itself offers no copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.enclave import Enclave


def memory_of(enclave: Enclave) -> bytes:
    """Return a copy of the whole memory, made without calling the module; empty once the enclave is closed."""
    with enclave._lock:
        if enclave._closed:
            return b""
        return bytes(enclave._memory.read(enclave._store, 0, enclave._memory.data_len(enclave._store)))
