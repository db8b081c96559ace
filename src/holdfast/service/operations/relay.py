"""Forwards JSON-RPC requests to the bundler: only listed methods, with a rate limit for those that cost money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.allowlists import PAYMASTER_METHODS
from holdfast.rules.json_rpc import written_anew
from holdfast.rules.quotas import of_operation
from holdfast.rules.sponsoring import SPONSOR
from holdfast.rules.user_operations import refusal_of
from holdfast.wire.errors import BUNDLER_NOT_CONFIGURED, NOT_FOUND, Refused
from holdfast.wire.json_rpc import CHARGED

if TYPE_CHECKING:
    from holdfast.rules.limits import Ceilings
    from holdfast.service.clock import Clock
    from holdfast.service.operations.sponsor import Sponsor
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.bundler import BundlerProxy
    from holdfast.wire.requests import CallBundler


@dataclass(frozen=True, slots=True)
class Relay:
    """Forwards requests to the bundler."""

    bundler: BundlerProxy
    store: Store
    ceilings: Ceilings
    clock: Clock
    sponsor: Sponsor | None = None

    async def forward(self, request: CallBundler, ip: str) -> bytes | bytearray:
        """Return the response to one JSON-RPC request (interface: POST /api/bundler).

        It is the bundler's, except for an operation whose paymaster is the zero address, which is not forwarded, and
        for `pm_sponsorUserOperation`, which the service's own sponsor answers if there is one.

        Args:
            request: the request that the client sent.
            ip: the client address that the window applies to.

        Raises:
            Refused: RPC_METHOD_NOT_ALLOWED, INVALID_JSON_RPC, BUNDLER_NOT_CONFIGURED, RATE_LIMITED, BUNDLER_ERROR, in
                this order.
        """
        written = written_anew(request)
        if self.bundler.url is None:
            raise Refused(BUNDLER_NOT_CONFIGURED)
        refusal = refusal_of(request)
        if refusal is not None:
            return refusal
        if request.method in CHARGED:
            await self.store.charge(of_operation(ip, self.ceilings), self.clock())
        if self.sponsor is not None and request.method == SPONSOR:
            return await self.sponsor.answer(request, ip)
        return await self.bundler.forward(written)

    async def sponsored(self, request: CallBundler, ip: str) -> bytes:
        """Return the sponsor's response to a request of ERC-7677, under the rules of `forward`.

        Raises:
            Refused: RPC_METHOD_NOT_ALLOWED, INVALID_JSON_RPC, NOT_FOUND without a sponsor, RATE_LIMITED, BUNDLER_ERROR,
                in this order.
        """
        written_anew(request, PAYMASTER_METHODS)
        if self.sponsor is None:
            raise Refused(NOT_FOUND)
        await self.store.charge(of_operation(ip, self.ceilings), self.clock())
        return await self.sponsor.answer(request, ip)
