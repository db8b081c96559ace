"""An application's gas policy: who pays for gas, where its price is read, and the maximum that it may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.client.http.transport import checked_base_url
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_OWN_COST_WEI = 10**16  # 0.01 ETH


@dataclass(frozen=True, slots=True, kw_only=True)
class GasPolicy:
    """Who pays for the operations of a vault's smart account.

    The client asks the paymaster at `paymaster_url`, or the service's sponsor if no URL is given. If no sponsor pays,
    the account pays from its balance of the chain's native coin, up to `max_own_cost_wei`.

    Args:
        paymaster_url: a paymaster service (ERC-7677). The URL may contain an access key; no message shows it.
        context: passed to the paymaster or sponsor, such as `{"sponsorshipPolicyId": "sp_..."}`.
        rpc_url: the chain's JSON-RPC endpoint, for the gas price and the account's balance; by default the one in the
            service's `/api/status`. No message shows it.
        sponsored: False makes the account pay without asking a sponsor.
        max_own_cost_wei: the most that the account itself may pay for one operation, in wei; 0 forbids it.

    Raises:
        ValueError: a URL is not http or https, or the limit is negative.
    """

    paymaster_url: str | None = field(default=None, repr=False)
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    rpc_url: str | None = field(default=None, repr=False)
    sponsored: bool = True
    max_own_cost_wei: int = MAX_OWN_COST_WEI

    def __post_init__(self) -> None:
        for name, url in (("paymaster_url", self.paymaster_url), ("rpc_url", self.rpc_url)):
            try:
                if url is not None:
                    checked_base_url(url)
            except ValueError:
                raise ValueError(f"{name} must start with http:// or https://") from None
        if self.max_own_cost_wei < 0:
            raise ValueError("max_own_cost_wei must be a number of wei, 0 or more")


# A program names the main chain's endpoint, so that it cannot help on another chain.
_OF_SERVICE = "the service must name one that can be called, because yours is for its main chain"


class NoEndpoint(NetworkError):
    """The program names no JSON-RPC endpoint of the chain, and the service none that may be used.

    Args:
        why: what is unknown.
        remedy: what the program or the person can do on the service's main chain.
        main: whether the chain is that one.
    """

    def __init__(self, why: str, remedy: str = "name one (GasPolicy.rpc_url)", *, main: bool = True) -> None:
        super().__init__(f"{why}: {remedy if main else _OF_SERVICE}")
        self.why, self.main = why, main
