"""The host of the enclave, a WebAssembly module that holds the keys.

`Enclave` is one instance, for one vault. `AsyncEnclave` is its form for asyncio. `bundled()` is the module's file.
"""

from __future__ import annotations

from holdfast.enclave.asynchronous import AsyncEnclave
from holdfast.enclave.host import Enclave
from holdfast.enclave.module import bundled, bundled_sha256
from holdfast.wire.client_errors import PluginCallError, WasmLoadError

__all__ = ["AsyncEnclave", "Enclave", "PluginCallError", "WasmLoadError", "bundled", "bundled_sha256"]
