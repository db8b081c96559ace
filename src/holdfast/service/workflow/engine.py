"""The background-workflow engine: Inngest's SDK serves workflow functions that do the work of the background jobs.

The service runs the jobs itself until the engine has registered the functions or finished a run, and again if the
engine goes silent.
"""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from holdfast.rules.allowlists import WORKFLOW_METHODS
from holdfast.rules.limits import MAX_BODY_BYTES, MAX_WORKFLOW_BODY_BYTES
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, error_response
from holdfast.service.settings.values import engine_configured, engine_unsigned
from holdfast.wire.errors import METHOD_NOT_ALLOWED, WORKFLOW_NOT_CONFIGURED, Refused
from holdfast.wire.logs import Sparse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import inngest

    from holdfast.service.http.messages import Request
    from holdfast.service.workflow.port import Jobs

APP_ID = "holdfast"
PATH = "/api/workflow"
RETRIES = 3  # per step, at growing intervals; the engine counts them
SIGNATURE = "x-inngest-signature"
# Signatures that do not match this pattern are invalid, and some make the SDK's comparison raise an exception.
_SIGNED = re.compile(r"t=[0-9]{1,20}&s=[0-9a-f]{64}")
_SPARSE = Sparse()  # strangers can make the SDK log errors as often as they like
_log = logging.getLogger("holdfast.workflow")
DEV_SERVER, HOSTED = "http://127.0.0.1:8288", "https://api.inngest.com"  # as in the SDK's constants


def engine_address(environment: Mapping[str, str]) -> str:
    """Return the engine's URL as the SDK determines it: a development server, a configured URL or the hosted engine."""
    development = environment.get("INNGEST_DEV", "")
    if development.startswith(("http://", "https://")):
        return development
    usual = DEV_SERVER if engine_unsigned(environment) else HOSTED
    return environment.get("INNGEST_API_BASE_URL") or environment.get("INNGEST_BASE_URL") or usual


class InngestWorkflow:
    """Responds to the engine's requests. The SDK is not loaded at startup, because that takes half a second."""

    def __init__(self, jobs: Jobs, public_url: str) -> None:
        self._jobs = jobs
        self._public_url = public_url
        self._handler: Any = None

    async def handle(self, request: Request) -> Response:
        """Return the SDK's response, or 405 for a method that the SDK does not support.

        Raises Refused(WORKFLOW_NOT_CONFIGURED).
        """
        if not engine_configured():
            raise Refused(WORKFLOW_NOT_CONFIGURED)
        if request.method not in WORKFLOW_METHODS:
            return error_response(METHOD_NOT_ALLOWED, [("allow", ", ".join([*WORKFLOW_METHODS, "OPTIONS"]))])
        if self._handler is None:
            self._handler = _build(self._jobs)
        translated = await self._translate(request)
        answer = await self._answered(request.method, translated)
        if _shows_the_engine(request.method, translated, answer):
            await self._jobs.engine_seen()
        headers = [(name.lower(), value) for name, value in answer.headers.items()]
        body = answer.body_bytes()  # signed by the SDK: other bytes would be refused
        if isinstance(body, Exception):
            raise body
        return Response(answer.status_code, [*headers, ANY_ORIGIN, EXPOSED, NO_SNIFFING], body)

    async def close(self) -> None:
        """Close the SDK's connections, which the SDK does not close itself."""
        if self._handler is not None:
            clients = self._handler._http_client  # noqa: SLF001 - the SDK offers no other way
            await clients._http_client.aclose()  # noqa: SLF001 - as above
            clients._http_client_sync.close()  # noqa: SLF001 - as above

    async def _answered(self, method: str, request: Any) -> Any:
        if method in {"GET", "HEAD"}:
            return self._handler.get_sync(request)
        return await (self._handler.put(request) if method == "PUT" else self._handler.post(request))

    async def _translate(self, request: Request) -> Any:
        # The SDK's framework adapters (Flask, FastAPI, ...) are thin wrappers around this request type and the handler.
        # This method, too, is a thin wrapper around internal classes of the SDK. The SDK's version is therefore pinned,
        # and a test sends requests with all three methods.
        from inngest._internal import comm_lib

        headers = {name: value for name, value in request.all_headers() if name != SIGNATURE}
        signature = request.header(SIGNATURE) or ""
        if _SIGNED.fullmatch(signature):
            headers[SIGNATURE] = signature
        signed = SIGNATURE in headers or engine_unsigned(os.environ)
        return comm_lib.CommRequest(
            body=await request.body(MAX_WORKFLOW_BODY_BYTES if signed else MAX_BODY_BYTES),
            headers=headers,
            public_path=None,
            query_params=dict(parse_qsl(request.query)),
            raw_request=request,
            request_url=f"{self._public_url}{PATH}" + (f"?{request.query}" if request.query else ""),
            serve_origin=None,
            serve_path=PATH,
        )


def _shows_the_engine(method: str, request: Any, answer: Any) -> bool:
    """Return whether a response shows that the engine is working.

    If the engine refused a registration, the SDK returns 200 with the engine's error, so the body must be checked.
    """
    if answer.status_code != 200 or not isinstance(answer.body, dict):  # noqa: PLR2004 - HTTP's own number
        return False
    if method == "PUT":
        return answer.body.get("ok") is True or "functions" in answer.body
    return method == "POST" and "fnId" in request.query_params


def _build(jobs: Jobs) -> Any:
    import inngest
    from inngest._internal import comm_lib, server_lib

    logger = logging.getLogger("inngest")
    logger.addFilter(_SPARSE)
    client = inngest.Inngest(app_id=APP_ID, logger=logger)
    return comm_lib.CommHandler(
        client=client,
        enable_unauthed_sync=_unsigned_registration(os.environ),
        framework=server_lib.Framework.FAST_API,
        functions=_functions(client, jobs),
        streaming=None,
    )


def _unsigned_registration(environment: Mapping[str, str]) -> bool:
    """Return whether unsigned requests may make the service register with the engine: off by default in the SDK."""
    return environment.get("INNGEST_ENABLE_UNAUTHED_SYNC", "").strip().lower() in {"1", "true"}


def _functions(client: inngest.Inngest, jobs: Jobs) -> list[Any]:
    import inngest

    every_minute = inngest.TriggerCron(cron="* * * * *")

    @client.create_function(fn_id="confirm_registrations", trigger=every_minute, retries=RETRIES)
    async def confirm_registrations(ctx: inngest.Context) -> dict[str, int]:
        return await ctx.step.run("confirm", _without_details(jobs.confirm_registrations))

    @client.create_function(fn_id="expire", trigger=every_minute, retries=RETRIES)
    async def expire(ctx: inngest.Context) -> dict[str, int]:
        return await ctx.step.run("expire", _without_details(jobs.expire))

    return [confirm_registrations, expire]


def _without_details(work: Callable[[], Awaitable[dict[str, int]]]) -> Callable[[], Awaitable[dict[str, int]]]:
    """Return a step that does `work` and logs its errors.

    The engine gets no error details, which could quote identifiers.
    """

    async def step() -> dict[str, int]:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - whatever the error is, the engine tries again
            _log.error("workflow step failed", exc_info=error)
        raise StepFailed("the step failed; the service's log says why")

    return step


class StepFailed(Exception):
    """A step of a workflow function failed; the engine retries it."""
