"""The client's error classes (interface section "Client error classes").

    ServiceError
    ├── WasmLoadError       the enclave cannot be loaded or initialised
    ├── PluginCallError     a call into the enclave failed
    ├── ClientStateError    used before initialisation or after close
    ├── WebAuthnError       unsupported, cancelled or incompatible authenticator
    ├── NetworkError        a request to the service, the indexer or the chain failed
    └── StorageError        secure storage failed

The error classes add the documented prefixes to their messages, so callers do not write them.
"""

from __future__ import annotations


class ServiceError(Exception):
    """Base class of all errors that the client raises."""

    name = "ServiceError"


class WasmLoadError(ServiceError):
    """The enclave cannot be loaded or initialised."""

    name = "WasmLoadError"

    def __init__(self, message: str) -> None:
        super().__init__(f"WASM load failed: {message}")


class PluginCallError(ServiceError):
    """A call into the enclave failed.

    Attributes:
        function_name: the enclave's function, `functionName` in the interface's words.
        code: the enclave's stable error code, or None if the call returned nothing.
    """

    name = "PluginCallError"

    def __init__(self, function_name: str, message: str, code: str | None = None) -> None:
        super().__init__(f"{function_name}: {message}")
        self.function_name = function_name
        self.code = code


class ClientStateError(ServiceError):
    """The client was used before its initialisation was complete or after it had been closed."""

    name = "ClientStateError"


class WebAuthnError(ServiceError):
    """The platform is unsupported, the person cancelled, or the authenticator is incompatible."""

    name = "WebAuthnError"

    def __init__(self, message: str, *, is_cancelled: bool = False) -> None:
        super().__init__(message)
        self.is_cancelled = is_cancelled


class NetworkError(ServiceError):
    """A request to a remote endpoint failed."""

    name = "NetworkError"

    def __init__(self, message: str) -> None:
        super().__init__(f"Network: {message}")


class StorageError(ServiceError):
    """An operation of the secure storage failed."""

    name = "StorageError"

    def __init__(self, message: str) -> None:
        super().__init__(f"Storage: {message}")
