"""GET /healthz and GET /readyz, for process managers and load balancers (decisions, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.http.messages import raw_json
from holdfast.service.http.worker_signals import STOPPING
from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import HEALTH, READINESS

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext

_ALIVE = b'{"ok":true}'
_STOPPING = b'{"ok":false}'


@serves_plainly(HEALTH)
async def alive(_web: WebContext, _request: Request) -> Response:
    """GET /healthz: the process responds."""
    return raw_json(_ALIVE)


@serves_plainly(READINESS)
async def ready(web: WebContext, _request: Request) -> Response:
    """GET /readyz: whether the store reads and writes, all its migrations are done, and the process is not stopping."""
    if STOPPING.begun:
        return raw_json(_STOPPING, 503)
    await web.service.status.ready()
    return raw_json(_ALIVE)
