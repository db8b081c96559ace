"""The Mailer port."""

from __future__ import annotations

from typing import Protocol


class Mailer(Protocol):
    """Delivers codes that Holdfast made."""

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code through the provider. Raises DeliveryError unless the provider accepted it."""
        ...

    async def check(self) -> str:
        """Check that the provider can be used, and return one line that describes it. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
