"""Gives test USDC to an account, for the button on the pages of the local world's service."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.errors import ChainError
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from holdfast.world.anvil import LocalChain

PATH = "/faucet"
GIFT = 100 * 10**6
_ADDRESS_BYTES = 20


class Faucet:
    """Mints `GIFT` of DevUSDC for each request of the service's pages, whose origin is `origin`, or of a tool."""

    def __init__(self, chain: LocalChain, minter: str, origin: str) -> None:
        self._chain, self._minter, self._origin = chain, minter, origin
        self._one_at_a_time = asyncio.Lock()  # LocalChain.transact asks for it

    async def answer(self, request: web.Request) -> web.Response:
        """Respond to `{"account": "0x…"}` with the transaction's hash once the money is there.

        The page sends text/plain, which needs no preflight; only its own origin may send or read anything.
        """
        if request.headers.get("Origin", self._origin) != self._origin:
            raise web.HTTPForbidden
        account = _account(await request.read())
        if account is None:
            raise web.HTTPBadRequest
        minted = call_data("mint(address,uint256)", account, GIFT)
        try:
            async with self._one_at_a_time:
                sent = await self._chain.transact(self._minter, ADDRESSES["DevUSDC"], minted)
        except ChainError:
            raise web.HTTPBadGateway from None
        return web.json_response({"transaction": sent}, headers={"Access-Control-Allow-Origin": self._origin})


def _account(body: bytes) -> str | None:
    try:
        request: Any = msgspec.json.decode(body)
        account = request["account"]
        return account if len(from_hex(account)) == _ADDRESS_BYTES else None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
