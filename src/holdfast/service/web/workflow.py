"""ANY /api/workflow: passes requests to the official Inngest SDK, which verifies the engine's signatures itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import WORKFLOW, WORKFLOW_REGISTER, WORKFLOW_RUN

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext


@serves_plainly(WORKFLOW, WORKFLOW_REGISTER, WORKFLOW_RUN)
async def workflow(web: WebContext, request: Request) -> Response:
    """Pass the request to the workflow SDK's handler."""
    return await web.service.workflow.handle(request)
