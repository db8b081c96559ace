"""Opens registration sessions, says which identifiers are available, and counts each address's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.addresses import NOWHERE
from holdfast.rules.identifiers import Channel
from holdfast.rules.registration import RegistrationRequest, SessionRule, unavailable
from holdfast.service.store.values import NewSession
from holdfast.wire.models import RegistrationCounters

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Limits
    from holdfast.rules.reserved_identifiers import ReservedList
    from holdfast.service.clock import Clock
    from holdfast.service.operations.admission import Admission
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import StoredResponse
    from holdfast.wire.errors import ErrorRow


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opens sessions, and says which identifiers are available."""

    store: Store
    reserved: Callable[[], ReservedList]
    registrar: str
    limits: Limits
    clock: Clock
    admission: Admission

    async def open(
        self,
        identifier: Identifier,
        did: str,
        ip: str,
        response: StoredResponse | None = None,
        invitation: str | None = None,
        network: str = NOWHERE,
    ) -> None:
        """Open a session; `network` is what `ip` is the hash of.

        Raises Refused if the identifier is reserved, banned or taken, the service takes no new person, or the address
        is banned or at its limit.
        """
        async with self.admission.of(identifier, did, invitation) as barred:
            request = RegistrationRequest(identifier.channel, did, self.is_reserved(identifier), barred=barred)
            session = NewSession(identifier=identifier, did=did, ip=ip, now=self.clock(), network=network)
            await self.store.open_session(session, SessionRule(request, self.limits), response)

    async def unavailable(self, identifier: Identifier) -> ErrorRow | None:
        """Return why every address would now be refused a session for this identifier; None if it is free."""
        reserved = self.is_reserved(identifier)
        claimed = not reserved and await self.store.is_claimed(identifier.channel.value, identifier.key)
        return unavailable(reserved=reserved, claimed=claimed)

    async def holder(self, identifier: Identifier) -> str | None:
        """Return the DID that holds an identifier: the registrar's DID for a reserved one, None for a free one."""
        if self.is_reserved(identifier):
            return self.registrar
        claim = await self.store.claim_of(identifier.channel.value, identifier.key)
        return claim.did if claim else None

    async def counters(self, ip: str) -> RegistrationCounters:
        """Return how many sessions were ever created from this address, its limit, and the total for all addresses."""
        mine, total = await self.store.registrations(ip)
        limit = self.limits.max_registrations_per_ip
        return RegistrationCounters(ip_registrations=mine, ip_limit=limit, total_registrations=total)

    def is_reserved(self, identifier: Identifier) -> bool:
        """Return whether the identifier is reserved.

        Only handles can be reserved: e-mail addresses and phone numbers are verified.
        """
        return identifier.channel is Channel.HANDLE and self.reserved().holds(identifier.key)
