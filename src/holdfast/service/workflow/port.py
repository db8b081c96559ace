"""The port of the background-workflow engine: what the service asks of it, and what it may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response


class Workflow(Protocol):
    """Answers the engine's requests."""

    async def handle(self, request: Request) -> Response:
        """The answer to ANY /api/workflow. Raises Refused(WORKFLOW_NOT_CONFIGURED)."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class Jobs(Protocol):
    """What the engine runs."""

    async def confirm_registrations(self) -> dict[str, int]:
        """Settle pending registrations; how many went which way."""
        ...

    async def expire(self) -> dict[str, int]:
        """Remove what no rule looks at any more; how many rows went."""
        ...

    async def engine_seen(self) -> None:
        """The engine has registered, or finished a run."""
        ...
