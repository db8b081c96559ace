"""The SmsVerifier port."""

from __future__ import annotations

from typing import Protocol


class SmsVerifier(Protocol):
    """Makes, sends and checks codes; Holdfast never sees them."""

    async def start(self, phone: str) -> None:
        """Have a code sent to an E.164 number. Raises DeliveryError."""
        ...

    async def check_code(self, phone: str, code: str) -> bool:
        """Whether this is the code; False for a wrong, expired or unknown one. Raises DeliveryError."""
        ...

    async def check(self) -> str:
        """One line that says what was reached. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
