"""ANY /api/workflow: the handler of the official Inngest SDK, which checks the engine's signatures itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response


async def workflow(service: Service, request: Request) -> Response:
    """Hand the request to the engine's handler."""
    return await service.workflow.handle(request)
