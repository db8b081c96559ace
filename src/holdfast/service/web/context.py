"""The context that handlers use: the service's operations, prepared responses, and the client's address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.identifiers import ALL_CHANNELS
from holdfast.service.http.static import StaticAnswer
from holdfast.wire.errors import RATE_LIMITED, Refused
from holdfast.wire.failures import SnapshotRefused

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Channel
    from holdfast.service.enclave_source.port import ServedEnclave
    from holdfast.service.http.client_address import ClientAddress
    from holdfast.service.http.large_responses import LargeResponses
    from holdfast.service.http.messages import Request
    from holdfast.service.lifecycle.service import Service
    from holdfast.service.operations.reading_rate import ReadingRate
    from holdfast.service.operations.snapshots import Snapshots
    from holdfast.service.web.prepared import PreparedFiles

INVITATION = "holdfast-invitation"  # the header with an invitation code
ENCLAVE_CACHE = "public, max-age=3600, s-maxage=86400"


@dataclass(slots=True)
class WebContext:
    """The context that every handler gets as its first argument.

    Attributes:
        scheme: that of the public URL.
        own_pages: the only origins whose pages may change something; None for all.
        channels: the kinds of identifiers that people may register.
        registrar: the service's own DID.
        security_contact: where to report a vulnerability.
    """

    service: Service
    files: PreparedFiles
    client_address: ClientAddress
    large: LargeResponses
    scheme: str
    own_pages: frozenset[str] | None = None
    channels: frozenset[Channel] = ALL_CHANNELS
    public_url: str = ""
    registrar: str = ""
    security_contact: str | None = None
    _wrapped: tuple[ServedEnclave, StaticAnswer] | None = None

    def subject(self, request: Request) -> str:
        """Return the hash of the client's address or network, to which limits apply."""
        return self.subjects(request)[0]

    def subjects(self, request: Request) -> tuple[str, str]:
        """Return that hash, and the client's address or network itself, to which bans apply."""
        network = self.client_address.subject(request)
        return self.service.addresses.of(network), network

    def count(self, rate: ReadingRate, request: Request, times: int = 1) -> None:
        """Count a request by the client's address, as that many. Raises Refused(RATE_LIMITED)."""
        try:
            rate.count(self.subject(request), times)
        except SnapshotRefused as refused:
            raise Refused(RATE_LIMITED, retry_after_s=refused.retry_after_s) from None

    @property
    def snapshots(self) -> Snapshots:
        """The snapshot operations. Only handlers of routes that require snapshots may use this property."""
        assert self.service.snapshots is not None
        return self.service.snapshots

    def enclave(self) -> StaticAnswer:
        """Return the response that contains the current enclave; it is created once per enclave."""
        current = self.service.enclaves.current()
        if self._wrapped is None or self._wrapped[0] is not current:
            self._wrapped = (current, StaticAnswer(current.body, "application/wasm", ENCLAVE_CACHE))
        return self._wrapped[1]
