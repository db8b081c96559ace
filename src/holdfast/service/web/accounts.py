"""GET /api/accounts/predict, /api/accounts/state, /api/balance, /api/contracts, /api/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import abi
from holdfast.rules.chains import CHAINS, TOKENS, formatted
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.encoding import to_hex
from holdfast.wire.endpoints import ACCOUNT_STATE, BALANCE, CONTRACTS, PREDICT_ADDRESS, STATUS
from holdfast.wire.errors import UNSUPPORTED_CHAIN, UNSUPPORTED_TOKEN, Refused
from holdfast.wire.models import AccountState, Balance, PredictedAddress

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext
    from holdfast.wire.models import Status
    from holdfast.wire.requests import PredictAddress, ReadAccount, ReadBalance

_CHAIN_IDS = {str(chain_id): chain_id for chain_id in CHAINS}


@serves_plainly(CONTRACTS)
async def contracts(web: WebContext, request: Request) -> Response:
    """GET /api/contracts."""
    return web.files.contracts.answer(request)


@serves_plainly(STATUS)
async def status(web: WebContext, _request: Request) -> Status:
    """GET /api/status."""
    return await web.service.status.report()


@serves(PREDICT_ADDRESS)
async def predict(web: WebContext, fields: PredictAddress, request: Request) -> PredictedAddress:
    """GET /api/accounts/predict."""
    x, y = abi.parse_coordinate(fields.pub_key_x), abi.parse_coordinate(fields.pub_key_y)
    salt = abi.parse_salt(fields.salt)
    web.count(web.service.chain_reads, request)
    return PredictedAddress(address=await web.service.accounts.predict(x, y, salt))


@serves(ACCOUNT_STATE)
async def state(web: WebContext, fields: ReadAccount, request: Request) -> AccountState:
    """GET /api/accounts/state."""
    account = abi.parse_address(fields.account)
    web.count(web.service.chain_reads, request)
    slots = await web.service.accounts.state(account)
    return AccountState(
        nonce=str(slots.nonce),
        did=to_hex(slots.did),
        is_active=slots.is_active,
        pub_key_x=to_hex(slots.pub_key_x),
        pub_key_y=to_hex(slots.pub_key_y),
    )


@serves(BALANCE)
async def balance(web: WebContext, fields: ReadBalance, request: Request) -> Balance:
    """GET /api/balance."""
    token, chain_id = TOKENS.get(fields.token.upper()), _CHAIN_IDS.get(fields.chain_id)
    if token is None:
        raise Refused(UNSUPPORTED_TOKEN)
    if chain_id is None:
        raise Refused(UNSUPPORTED_CHAIN)
    web.service.balances.admit(token, chain_id)
    account = abi.parse_address(fields.account)
    web.count(web.service.chain_reads, request)
    amount = await web.service.balances.of(account, token, chain_id)
    return Balance(
        balance=str(amount), decimals=token.decimals, symbol=token.symbol, formatted=formatted(amount, token)
    )
