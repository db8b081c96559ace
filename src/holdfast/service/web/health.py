"""GET /healthz and GET /readyz, for whatever restarts and routes (decisions, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.web.http import raw_json

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response

_ALIVE = b'{"ok":true}'


async def alive(service: Service, request: Request) -> Response:  # noqa: ARG001 - a handler's signature
    """GET /healthz: the process answers."""
    return raw_json(_ALIVE)


async def ready(service: Service, request: Request) -> Response:  # noqa: ARG001 - a handler's signature
    """GET /readyz: the store can be reached. Reaching it includes its migrations."""
    await service.store.ping()
    return raw_json(_ALIVE)
