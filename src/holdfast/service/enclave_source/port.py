"""The port for the enclave that the service serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ServedEnclave:
    """An enclave module in the form in which it is served.

    Attributes:
        body: the WebAssembly binary.
        etag: strong entity tag (RFC 9110 section 8.8.3), quotes included, of the body alone.
        published: whether it came from object storage; False for the bundled copy.
    """

    body: bytes
    etag: str
    published: bool


class EnclaveProvider(Protocol):
    """Knows which enclave to serve."""

    def current(self) -> ServedEnclave:
        """Return the enclave to serve now. Never waits."""
        ...

    async def refresh(self) -> bool:
        """Look for a newer published enclave; returns True if a newer one is now in use.

        Storage errors are not raised.
        """
        ...

    async def verdict(self) -> str | None:
        """Look for a published enclave, and return why it is not in use; None if it is in use."""
        ...
