"""The port of the enclave that the service hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Enclave:
    """A module as it is served.

    Attributes:
        body: the WebAssembly binary.
        etag: strong entity tag (RFC 9110 section 8.8.3), quotes included, of the body alone.
        published: whether it came from object storage; False for the bundled copy.
    """

    body: bytes
    etag: str
    published: bool


class Enclaves(Protocol):
    """Knows which enclave is to be served."""

    def current(self) -> Enclave:
        """The enclave to serve now; never waits."""
        ...

    async def refresh(self) -> bool:
        """Look for a newer published enclave; True when one took its place. Never raises for what storage does."""
        ...

    async def verdict(self) -> str | None:
        """Look now, and say why the published enclave is not the one in use; None when it is."""
        ...
