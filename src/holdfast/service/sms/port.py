"""The ports of SMS: SmsVerifier, and SmsSender for providers that only send."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class SmsVerifier(Protocol):
    """A provider that generates, sends and checks codes itself; the service does not store them."""

    @property
    def same_code_s(self) -> float:
        """For how many seconds further messages to a number contain the same code; 0 if each contains a new one."""
        ...

    async def start(self, phone: str) -> None:
        """Send a code to an E.164 number. Raises DeliveryError."""
        ...

    async def check_code(self, phone: str, code: str) -> bool:
        """Return whether the code is correct; False for a wrong, expired or unknown code. Raises DeliveryError."""
        ...

    async def check(self) -> str:
        """Check that the provider can be used, and return one line that describes it. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@runtime_checkable
class SmsSender(Protocol):
    """A provider that sends codes which the service generates, stores and checks."""

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Send the code to an E.164 number. Raises DeliveryError unless the provider accepted it."""
        ...

    async def check(self) -> str:
        """Check that the provider can be used, and return one line that describes it. Raises DeliveryError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
