"""The background-workflow engine: Inngest's SDK serves our functions, which call the same operations as the chores."""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from holdfast.service.settings import engine_unsigned
from holdfast.service.web.http import ANY_ORIGIN, EXPOSED, Response
from holdfast.wire.errors import WORKFLOW_NOT_CONFIGURED, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    import inngest

    from holdfast.service.housekeeping import Chores
    from holdfast.service.web.http import Request

APP_ID = "holdfast"
PATH = "/api/workflow"
DEV_SERVER, HOSTED = "http://127.0.0.1:8288", "https://api.inngest.com"  # as the SDK's constants say


def engine_configured(environment: Mapping[str, str] | None = None) -> bool:
    """Whether an engine calls the functions, so that the service need not run them by itself.

    The SDK serves with a signing key or in its development mode; an event key alone is only for sending events.
    """
    given = os.environ if environment is None else environment
    return bool(given.get("INNGEST_SIGNING_KEY")) or engine_unsigned(given)


def engine_address(environment: Mapping[str, str]) -> str:
    """Where the SDK finds the engine: its development server's address, the one that is set, or the hosted one."""
    development = environment.get("INNGEST_DEV", "")
    if development.startswith(("http://", "https://")):
        return development
    usual = DEV_SERVER if engine_unsigned(environment) else HOSTED
    return environment.get("INNGEST_API_BASE_URL") or environment.get("INNGEST_BASE_URL") or usual


class Workflow:
    """Answers the engine. The SDK is loaded on the first request: it takes half a second that a start must not wait."""

    def __init__(self, chores: Chores, public_url: str) -> None:
        self._chores = chores
        self._public_url = public_url
        self._handler: Any = None

    async def handle(self, request: Request, limit: int) -> Response:
        """The SDK's answer. Raises Refused(WORKFLOW_NOT_CONFIGURED)."""
        if not engine_configured():
            raise Refused(WORKFLOW_NOT_CONFIGURED)
        if self._handler is None:
            self._handler = _build(self._chores)
        asked = await self._translate(request, limit)
        if request.method in {"GET", "HEAD"}:
            answer = self._handler.get_sync(asked)
        else:
            answer = await (self._handler.put(asked) if request.method == "PUT" else self._handler.post(asked))
        headers = [(name.lower(), value) for name, value in answer.headers.items()]
        return Response(answer.status_code, [*headers, ANY_ORIGIN, EXPOSED], json.dumps(answer.body).encode())

    async def _translate(self, request: Request, limit: int) -> Any:
        # The SDK's framework adapters (Flask, FastAPI, ...) are thin shells around this request type and handler;
        # ours is one more such shell, so the SDK's version is pinned and a test drives all three methods.
        from inngest._internal import comm_lib

        return comm_lib.CommRequest(
            body=await request.body(limit),
            headers=dict(request.all_headers()),
            public_path=None,
            query_params=dict(parse_qsl(request.query)),
            raw_request=request,
            request_url=f"{self._public_url}{PATH}" + (f"?{request.query}" if request.query else ""),
            serve_origin=None,
            serve_path=PATH,
        )


def _build(chores: Chores) -> Any:
    import inngest
    from inngest._internal import comm_lib, server_lib

    client = inngest.Inngest(app_id=APP_ID, logger=logging.getLogger("inngest"))
    return comm_lib.CommHandler(
        client=client,
        enable_unauthed_sync=None,
        framework=server_lib.Framework.FAST_API,
        functions=_functions(client, chores),
        streaming=None,
    )


def _functions(client: inngest.Inngest, chores: Chores) -> list[Any]:
    import inngest

    @client.create_function(fn_id="confirm_registrations", trigger=inngest.TriggerCron(cron="* * * * *"))
    async def confirm_registrations(ctx: inngest.Context) -> dict[str, int]:  # noqa: ARG001 - the SDK's signature
        return await chores.confirm_registrations()

    @client.create_function(fn_id="expire", trigger=inngest.TriggerCron(cron="* * * * *"))
    async def expire(ctx: inngest.Context) -> dict[str, int]:  # noqa: ARG001 - the SDK's signature
        return await chores.expire()

    return [confirm_registrations, expire]
