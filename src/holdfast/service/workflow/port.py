"""The port for the background-workflow engine, and the jobs that the engine may run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response


class Workflow(Protocol):
    """Responds to the engine's requests."""

    async def handle(self, request: Request) -> Response:
        """Return the response to ANY /api/workflow. Raises Refused(WORKFLOW_NOT_CONFIGURED)."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class Jobs(Protocol):
    """The jobs that the engine runs."""

    async def confirm_registrations(self) -> dict[str, int]:
        """Check pending registrations; returns how many were confirmed, refused and left pending."""
        ...

    async def expire(self) -> dict[str, int]:
        """Remove data that no rule reads any more; returns how many rows were removed."""
        ...

    async def engine_seen(self, at: float | None) -> None:
        """Record that the engine has registered the jobs, or has finished a run, in a call signed at this time."""
        ...
