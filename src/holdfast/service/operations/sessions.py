"""Registration sessions: who may have an identifier, and the counters of addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.identifiers import Channel
from holdfast.rules.registration import SessionFacts, Wish, admit_session
from holdfast.service.store.port import NewSession

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Limits
    from holdfast.rules.registration import Claim
    from holdfast.rules.reserved_identifiers import ReservedList
    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store


@dataclass(frozen=True, slots=True)
class Holding:
    """What is known of an identifier: reserved, held by somebody, or neither."""

    reserved: bool
    claim: Claim | None


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opens sessions and says what is free."""

    store: Store
    reserved: Callable[[], ReservedList]
    limits: Limits
    clock: Clock

    async def open(self, identifier: Identifier, did: str, ip: str) -> None:
        """Open a session. Raises Refused: reserved, taken, or the address has had its share."""
        wish = Wish(identifier.channel, did, self.is_reserved(identifier))

        def decide(facts: SessionFacts) -> None:
            admit_session(wish, facts, self.limits)

        await self.store.open_session(NewSession(identifier=identifier, did=did, ip=ip, now=self.clock()), decide)

    async def holding(self, identifier: Identifier) -> Holding:
        """Whether the identifier is reserved or held."""
        if self.is_reserved(identifier):
            return Holding(reserved=True, claim=None)
        return Holding(reserved=False, claim=await self.store.claim_of(identifier.channel.value, identifier.key))

    def is_reserved(self, identifier: Identifier) -> bool:
        """Only handles are reserved: an e-mail address or a number is proven, not chosen."""
        return identifier.channel is Channel.HANDLE and self.reserved().holds(identifier.key)
