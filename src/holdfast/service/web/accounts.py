"""GET /api/accounts/predict, /api/accounts/state, /api/balance, /api/contracts, /api/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import abi
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID, TOKENS, formatted
from holdfast.rules.p256 import on_curve
from holdfast.service.ports import StoreUnavailable
from holdfast.service.web.http import json_response
from holdfast.service.web.input import query_values, require
from holdfast.wire.encoding import to_hex
from holdfast.wire.errors import (
    INVALID_PUBLIC_KEY,
    MISSING_ACCOUNT,
    MISSING_BALANCE_PARAMETERS,
    MISSING_PUBLIC_KEY,
    UNSUPPORTED_CHAIN,
    UNSUPPORTED_TOKEN,
    Refused,
)
from holdfast.wire.models import AccountState, Balance, PredictedAddress, Status

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response

_CHAIN_IDS = {str(chain_id): chain_id for chain_id in CHAINS}


async def contracts(service: Service, request: Request) -> Response:
    """GET /api/contracts."""
    return service.statics.contracts.answer(request)


async def status(service: Service, request: Request) -> Response:  # noqa: ARG001 - a handler's signature
    """GET /api/status."""
    try:
        await service.store.ping()
        database = "connected"
    except StoreUnavailable:
        database = "unavailable"
    chain = CHAINS[DEFAULT_CHAIN_ID]
    return json_response(Status(chain=chain.name, chain_id=chain.chain_id, rpc=service.shown_rpc, database=database))


async def predict(service: Service, request: Request) -> Response:
    """GET /api/accounts/predict."""
    values = query_values(request.query)
    x, y = require(MISSING_PUBLIC_KEY, values.get("pubKeyX"), values.get("pubKeyY"))
    key_x, key_y = abi.parse_coordinate(x), abi.parse_coordinate(y)
    salt = abi.parse_salt(values.get("salt", "0"))
    if not on_curve(key_x, key_y):
        # The factory names an address for these too, and can never make an account there: what is paid to it is lost.
        raise Refused(INVALID_PUBLIC_KEY)
    return json_response(PredictedAddress(address=await service.accounts.predict(key_x, key_y, salt)))


async def state(service: Service, request: Request) -> Response:
    """GET /api/accounts/state."""
    (account,) = require(MISSING_ACCOUNT, query_values(request.query).get("account"))
    slots = await service.accounts.state(abi.parse_address(account))
    return json_response(
        AccountState(
            nonce=str(slots.nonce),
            did=to_hex(slots.did),
            is_active=slots.is_active,
            pub_key_x=to_hex(slots.pub_key_x),
            pub_key_y=to_hex(slots.pub_key_y),
        )
    )


async def balance(service: Service, request: Request) -> Response:
    """GET /api/balance."""
    values = query_values(request.query)
    account, symbol, chain = require(
        MISSING_BALANCE_PARAMETERS, *(values.get(name) for name in ("account", "token", "chainId"))
    )
    token, chain_id = TOKENS.get(symbol.upper()), _CHAIN_IDS.get(chain)
    if token is None:
        raise Refused(UNSUPPORTED_TOKEN)
    if chain_id is None:
        raise Refused(UNSUPPORTED_CHAIN)
    service.balances.admit(token, chain_id)
    amount = await service.balances.of(abi.parse_address(account), token, chain_id)
    return json_response(
        Balance(balance=str(amount), decimals=token.decimals, symbol=token.symbol, formatted=formatted(amount, token))
    )
