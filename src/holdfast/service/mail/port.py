"""The Mailer port."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Notice(NamedTuple):
    """A notice about the recovery of an account.

    Attributes:
        name: identifies what the notice is about, so that a mail sent twice has the same Message-ID.
        kind: `asked`: the service, a guardian, was asked for it; `started`: it was started on the chain.
        until: when the service signs, or the recovery can be finished; seconds since the epoch.
        request: the number with which an `asked` recovery is stopped.
    """

    name: str
    kind: str
    account: str
    until: float
    request: str


class Mailer(Protocol):
    """Delivers codes that Holdfast made, and notices about recoveries."""

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code through the provider. Raises DeliveryError unless the provider accepted it."""
        ...

    async def send_notice(self, recipient: str, notice: Notice) -> None:
        """Send a notice through the provider. Raises DeliveryError unless the provider accepted it."""
        ...

    async def check(self) -> str:
        """Check that the provider can be used, and return one line that describes it. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
