"""The Mailer port."""

from __future__ import annotations

from typing import Protocol


class Mailer(Protocol):
    """Delivers codes that Holdfast made."""

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Hand the code to the provider. Raises DeliveryError unless the provider accepted it."""
        ...

    async def check(self) -> str:
        """Check the provider and return one line that says what was reached. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
