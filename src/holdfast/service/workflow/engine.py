"""The background-workflow engine: Inngest's SDK serves workflow functions that do the work of the background jobs.

The service runs the jobs itself until the engine has registered the functions or finished a run, and again if the
engine goes silent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from holdfast.rules.allowlists import WORKFLOW_METHODS
from holdfast.rules.limits import MAX_BODY_BYTES, MAX_WORKFLOW_BODY_BYTES, PROXY_TIMEOUT_S
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, error_response
from holdfast.service.settings.values import engine_configured, engine_unsigned
from holdfast.wire.errors import BODY_TOO_LARGE, METHOD_NOT_ALLOWED, WORKFLOW_NOT_CONFIGURED, Refused
from holdfast.wire.logs import Sparse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    import inngest
    from fastapi import FastAPI

    from holdfast.service.http.messages import Request
    from holdfast.service.workflow.port import Jobs

APP_ID = "holdfast"
PATH = "/api/workflow"
RETRIES = 3  # per step, at growing intervals; the engine counts them
SIGNATURE = "x-inngest-signature"
# Signatures that do not match this pattern are invalid, and some make the SDK's comparison raise an exception.
_SIGNED = re.compile(r"t=[0-9]{1,20}&s=[0-9a-f]{64}")
_MAX_DIGITS, _MAX_COMMAS, _MAX_BRACKETS = 32 * 1024, 1000, 250  # calls of these functions have a tenth of them
SPARSE = Sparse()  # strangers can make the SDK log errors as often as they like
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
    """Responds to the engine's requests. The SDK is not loaded at startup, because that takes a second."""

    def __init__(self, jobs: Jobs, public_url: str) -> None:
        self._jobs = jobs
        self._public_url = urlsplit(public_url)
        self._client: inngest.Inngest | None = None
        self._application: FastAPI | None = None

    async def handle(self, request: Request) -> Response:
        """Return the SDK's response, or 405 for a method that the SDK does not support.

        Raises Refused(WORKFLOW_NOT_CONFIGURED).
        """
        if not engine_configured():
            raise Refused(WORKFLOW_NOT_CONFIGURED)
        if request.method not in WORKFLOW_METHODS:
            return error_response(METHOD_NOT_ALLOWED, [("allow", ", ".join([*WORKFLOW_METHODS, "OPTIONS"]))])
        if self._application is None:
            self._client = _client()
            self._application = _application(self._client, self._jobs)
        method = "GET" if request.method == "HEAD" else request.method  # the web layer drops the body
        answer = await self._answered(self._application, request, method)
        if _shows_the_engine(method, request, answer):
            await self._jobs.engine_seen(_signed_at(request))
        return Response(answer.status, [*answer.headers, ANY_ORIGIN, EXPOSED, NO_SNIFFING], answer.body)

    async def close(self) -> None:
        """Close the SDK's connections, which the SDK does not close itself."""
        if self._client is not None:
            clients = self._client._http_client  # noqa: SLF001 - the SDK offers no other way
            await clients._http_client.aclose()  # noqa: SLF001 - as above
            clients._http_client_sync.close()  # noqa: SLF001 - as above

    async def _answered(self, application: FastAPI, request: Request, method: str) -> Response:
        """Return what the SDK's application answers. It is told the public address, at which the engine calls it."""
        headers = [(name, value) for name, value in request.all_headers() if name not in {SIGNATURE, "host"}]
        signature = request.header(SIGNATURE) or ""
        if signed := bool(_SIGNED.fullmatch(signature)):
            headers.append((SIGNATURE, signature))
        unsigned = engine_unsigned(os.environ)
        body = await request.body(MAX_WORKFLOW_BODY_BYTES if signed or unsigned else MAX_BODY_BYTES)
        if signed and not unsigned and _is_dear(body):
            raise Refused(BODY_TOO_LARGE)
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": method,
            "scheme": self._public_url.scheme, "path": PATH, "raw_path": PATH.encode(), "root_path": "",
            "query_string": request.query.encode(), "client": None, "server": None,
            "headers": _octets([*headers, ("host", self._public_url.netloc)]),
        }  # fmt: skip
        return await _called(application, scope, body if signed or unsigned else b"")


def _is_dear(body: bytes) -> bool:
    """Return whether a body takes long to write in canonical form, as the SDK does before it compares the signature."""
    digits = len(body) - len(body.translate(None, b"0123456789"))
    brackets = body.count(b"[") + body.count(b"{")
    return digits > _MAX_DIGITS or body.count(b",") > _MAX_COMMAS or brackets > _MAX_BRACKETS


async def _called(application: FastAPI, scope: dict[str, Any], body: bytes) -> Response:
    begun: dict[str, Any] = {}
    octets = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            begun.update(message)
        else:
            octets.extend(message.get("body", b""))

    await application(scope, receive, send)
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in begun["headers"]]
    return Response(begun["status"], [it for it in headers if it[0] != "content-length"], octets)


def _octets(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]


def _shows_the_engine(method: str, request: Request, answer: Response) -> bool:
    """Return whether a response shows that the engine is working.

    If the engine refused a registration, the SDK returns 200 with the engine's error, so the body must be checked.
    """
    body = msgspec.json.decode(answer.body) if answer.status == 200 else None  # noqa: PLR2004 - HTTP's own number
    if not isinstance(body, dict):
        return False
    if method == "PUT":
        return body.get("ok") is True or "functions" in body
    return method == "POST" and "fnId" in dict(parse_qsl(request.query))


def _signed_at(request: Request) -> float | None:
    """Return when the engine signed a call, which the SDK verified: a repeated call must not show a later time."""
    signature = request.header(SIGNATURE) or ""
    return float(parse_qsl(signature)[0][1]) if _SIGNED.fullmatch(signature) else None


def _client() -> inngest.Inngest:
    import inngest

    logger = logging.getLogger("inngest")
    logger.addFilter(SPARSE)
    client = inngest.Inngest(app_id=APP_ID, logger=logger)
    http = client._http_client._http_client  # noqa: SLF001 - the SDK waits 30 s for each part of a response
    http.send = _in_time(http.send)  # type: ignore[assignment]
    return client


def _in_time(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def sent(*args: object, **options: object) -> Any:
        async with asyncio.timeout(PROXY_TIMEOUT_S):
            return await send(*args, **options)

    return sent


def _application(client: inngest.Inngest, jobs: Jobs) -> FastAPI:
    """Return the SDK's application for FastAPI, which has only the engine's three methods."""
    from fastapi import FastAPI
    from inngest import fast_api

    made = FastAPI(openapi_url=None)
    unsigned = _unsigned_registration(os.environ)
    fast_api.serve(made, client, _functions(client, jobs), enable_unauthed_sync=unsigned, serve_path=PATH)
    return made


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
