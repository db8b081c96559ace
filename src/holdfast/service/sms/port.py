"""The SmsVerifier port."""

from __future__ import annotations

from typing import Protocol


class SmsVerifier(Protocol):
    """Generates, sends and checks codes; Holdfast never sees them."""

    async def start(self, phone: str) -> None:
        """Send a code to an E.164 number. Raises DeliveryError."""
        ...

    async def check_code(self, phone: str, code: str) -> bool:
        """Return whether the code is correct; False for a wrong, expired or unknown one. Raises DeliveryError."""
        ...

    async def check(self) -> str:
        """Check the provider and return one line that says what was reached. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
