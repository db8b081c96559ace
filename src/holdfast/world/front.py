"""The server at the local world's bundler URL: it sponsors operations itself and forwards other requests to Alto."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from holdfast.chain.errors import ChainError, RpcError, TransportError
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.json_rpc import MalformedRequest, request_of
from holdfast.world.ports import HOST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from holdfast.chain.transports import Transport
    from holdfast.wire.json_rpc import Request
    from holdfast.world.sponsor import Sponsor

SPONSOR_METHOD, ESTIMATE_METHOD = "pm_sponsorUserOperation", "eth_estimateUserOperationGas"
MAX_BODY_BYTES = 1024 * 1024
_INVALID_REQUEST, _INVALID_PARAMS, _INTERNAL = -32600, -32602, -32603


class DevelopmentBundler:
    """Responds to single JSON-RPC requests, and refuses batches, as Alto does."""

    def __init__(self, sponsor: Sponsor, alto_url: str, transport: Transport) -> None:
        self._sponsor = sponsor
        self._alto_url = alto_url
        self._transport = transport

    async def answer(self, request: web.Request) -> web.Response:
        """Respond to one HTTP request, always with status 200, as bundlers do.

        Web pages are refused: those of the local world send their requests to the service.
        """
        if "Origin" in request.headers:
            raise web.HTTPForbidden
        return web.Response(body=await self._dispatch(await request.read()), content_type="application/json")

    async def _dispatch(self, body: bytes) -> bytes:
        try:
            request = request_of(body)
            anew = request.written_anew()  # the bundler sees the method that was checked here
        except MalformedRequest as error:
            return _error(None, _INVALID_REQUEST, f"expected one JSON-RPC request: {error}")
        if request.method == SPONSOR_METHOD:
            return await self._sponsored(request)
        if request.method == ESTIMATE_METHOD:
            await self._pass_a_block(request.params)
        try:
            return await self._transport.post(self._alto_url, anew)
        except TransportError:
            return _error(request.id, _INTERNAL, "the bundler does not answer")

    async def _pass_a_block(self, parameters: Any) -> None:
        """Mine a block if a commitment that the operation needs is in the newest block; anvil mines none by itself."""
        with suppress(ValueError, LookupError, TypeError, ChainError):
            await self._sponsor.pass_a_block(UserOperation.from_rpc(parameters[0]))

    async def _sponsored(self, request: Request) -> bytes:
        identity, parameters = request.id, _sponsor_parameters(request.params)
        if parameters is None:
            return _error(identity, _INVALID_PARAMS, "expected a user operation, an entry point, perhaps a context")
        try:
            form, entry_point, *context = parameters
            result = await self._sponsor.sponsor(form, entry_point, *context)
        except RpcError as error:
            return _error(identity, _INTERNAL if error.code is None else error.code, str(error), error.data)
        except (ChainError, ValueError) as error:
            code, message, data = _refusal_of(error)
            return _error(identity, code, message, data)
        return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "result": result})


def _refusal_of(error: Exception) -> tuple[int, str, Any]:
    cause = error.__cause__  # the bundler's own response, if it refused the estimate
    if isinstance(cause, RpcError) and cause.code is not None:
        return cause.code, str(cause), cause.data
    return _INVALID_PARAMS, str(error), None


def _sponsor_parameters(given: Any) -> list[Any] | None:
    kinds: tuple[type, ...] = (dict, str, dict)
    if not isinstance(given, list) or len(given) not in {2, 3}:
        return None
    fit = all(isinstance(value, kind) for value, kind in zip(given, kinds, strict=False))
    return given if fit else None


def _error(identity: Any, code: int, message: str, data: Any = None) -> bytes:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "error": error})


@asynccontextmanager
async def serve_bundler(bundler: DevelopmentBundler, port: int = 0) -> AsyncIterator[str]:
    """Serve on loopback until the `with` block ends, and yield the server's address."""
    application = web.Application(client_max_size=MAX_BODY_BYTES)
    application.router.add_post("/", bundler.answer)
    async with serve_on_loopback(application, port) as url:
        yield url


@asynccontextmanager
async def serve_on_loopback(application: web.Application, port: int) -> AsyncIterator[str]:
    """Serve `application` until the `with` block ends, and yield its address. Connections then have a second to end."""
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
