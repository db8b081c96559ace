"""The chains that the service serves: which they are, and accounts and bundler on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.wire.errors import UNSUPPORTED_CHAIN, Refused
from holdfast.wire.models import ServedChain, ServedChains

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.rules.chains import Chain
    from holdfast.service.operations.accounts import Accounts
    from holdfast.service.operations.relay import Relay


@dataclass(frozen=True, slots=True)
class OnChain:
    """What the service does on one chain."""

    chain: Chain
    accounts: Accounts
    relay: Relay

    def shown(self, *, main: bool) -> ServedChain:
        """Return what clients are told about the chain."""
        chain = self.chain
        return ServedChain(
            chain_id=chain.chain_id,
            name=chain.name,
            main=main,
            test_money=chain.test_money,
            rpc=chain.shown_rpc,
            explorer=chain.explorer,
            usdc=chain.usdc,
            payments=chain.bundler is not None,
        )


@dataclass(frozen=True, slots=True)
class Chains:
    """All served chains by ID, the main chain first."""

    main: int
    served: Mapping[int, OnChain]

    def report(self) -> ServedChains:
        """Return the body of GET /api/chains."""
        return ServedChains(chains=[each.shown(main=chain_id == self.main) for chain_id, each in self.served.items()])

    def named(self, text: str) -> OnChain:
        """Return the chain whose ID, in decimal form, is `text`. Raises Refused(UNSUPPORTED_CHAIN)."""
        found = next((each for chain_id, each in self.served.items() if str(chain_id) == text), None)
        if found is None:
            raise Refused(UNSUPPORTED_CHAIN)
        return found
