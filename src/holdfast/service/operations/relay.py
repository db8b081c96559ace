"""Forwards JSON-RPC requests to the bundler: only listed methods, with a rate limit for those that cost money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.json_rpc import parse_request
from holdfast.rules.quotas import of_operation
from holdfast.wire.errors import BUNDLER_NOT_CONFIGURED, Refused
from holdfast.wire.json_rpc import CHARGED

if TYPE_CHECKING:
    from holdfast.rules.limits import Ceilings
    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.bundler import BundlerProxy


@dataclass(frozen=True, slots=True)
class Relay:
    """Forwards requests to the bundler."""

    bundler: BundlerProxy
    store: Store
    ceilings: Ceilings
    clock: Clock

    async def forward(self, body: bytes, ip: str) -> bytes:
        """Return the bundler's response to one JSON-RPC request (interface: POST /api/bundler).

        Args:
            body: the request as the client sent it.
            ip: the client address that the window applies to.

        Raises:
            Refused: INVALID_JSON_RPC, RPC_METHOD_NOT_ALLOWED, BUNDLER_NOT_CONFIGURED, RATE_LIMITED, BUNDLER_ERROR, in
                this order.
        """
        method, written = parse_request(body)
        if self.bundler.url is None:
            raise Refused(BUNDLER_NOT_CONFIGURED)
        if method in CHARGED:
            await self.store.charge(of_operation(ip, self.ceilings), self.clock())
        return await self.bundler.forward(written)
