"""What an application may say about gas: who pays for it, where its price is read, and how much it may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.client.http.transport import checked_base_url

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_OWN_COST_WEI = 10**16  # 0.01 ETH


@dataclass(frozen=True, slots=True, kw_only=True)
class GasPolicy:
    """Who pays for the operations of a vault's smart account.

    The paymaster of `paymaster_url` is asked, else the service's sponsor. Where neither pays, the account does, from
    its own balance of the chain's coin and up to `max_own_cost_wei`.

    Args:
        paymaster_url: a paymaster that speaks ERC-7677. It may carry an access key; no message shows it.
        context: what paymaster or sponsor want to be told, such as `{"sponsorshipPolicyId": "sp_..."}`.
        rpc_url: the chain's JSON-RPC, for the price of gas and the account's balance; else that of the service's
            `/api/status`. No message shows it.
        sponsored: False lets the account pay without asking a sponsor.
        max_own_cost_wei: the most that the account itself pays for one operation, in wei; 0 for nothing.

    Raises:
        ValueError: an address is not of http or https, or the limit is negative.
    """

    paymaster_url: str | None = field(default=None, repr=False)
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    rpc_url: str | None = field(default=None, repr=False)
    sponsored: bool = True
    max_own_cost_wei: int = MAX_OWN_COST_WEI

    def __post_init__(self) -> None:
        for name in ("paymaster_url", "rpc_url"):
            url = getattr(self, name)
            if url is not None:
                _check(name, url)
        if self.max_own_cost_wei < 0:
            raise ValueError("max_own_cost_wei: a number of wei, not negative")


def _check(name: str, url: str) -> None:
    try:
        checked_base_url(url)
    except ValueError:
        raise ValueError(f"{name} must start with http:// or https://") from None
