"""GET /api/accounts/predict, /api/accounts/state, /api/balance, /api/chains, /api/contracts, /api/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import abi
from holdfast.rules.chains import TOKENS, formatted
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.encoding import to_hex
from holdfast.wire.endpoints import ACCOUNT_STATE, BALANCE, CHAINS, CONTRACTS, PREDICT_ADDRESS, STATE_ON_CHAIN, STATUS
from holdfast.wire.errors import UNSUPPORTED_TOKEN, Refused
from holdfast.wire.models import AccountState, Balance, PredictedAddress

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.operations.accounts import Accounts
    from holdfast.service.web.context import WebContext
    from holdfast.wire.models import ServedChains, Status
    from holdfast.wire.requests import PredictAddress, ReadAccount, ReadBalance


_STATES = "/api/accounts/state/"


@serves_plainly(CONTRACTS)
async def contracts(web: WebContext, request: Request) -> Response:
    """GET /api/contracts."""
    return web.files.contracts.answer(request)


@serves_plainly(STATUS)
async def status(web: WebContext, _request: Request) -> Status:
    """GET /api/status."""
    return await web.service.status.report()


@serves_plainly(CHAINS)
async def chains(web: WebContext, _request: Request) -> ServedChains:
    """GET /api/chains."""
    return web.service.chains.report()


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
    return await _state(web, web.service.accounts, fields, request)


@serves(STATE_ON_CHAIN)
async def state_on_chain(web: WebContext, fields: ReadAccount, request: Request) -> AccountState:
    """GET /api/accounts/state/{chain_id}."""
    there = web.service.chains.named(request.path.removeprefix(_STATES))
    return await _state(web, there.accounts, fields, request)


async def _state(web: WebContext, accounts: Accounts, fields: ReadAccount, request: Request) -> AccountState:
    account = abi.parse_address(fields.account)
    web.count(web.service.chain_reads, request)
    slots = await accounts.state(account)
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
    token = TOKENS.get(fields.token.upper())
    if token is None:
        raise Refused(UNSUPPORTED_TOKEN)
    chain_id = web.service.chains.named(fields.chain_id).chain.chain_id
    web.service.balances.admit(token, chain_id)
    account = abi.parse_address(fields.account)
    web.count(web.service.chain_reads, request)
    amount = await web.service.balances.of(account, token, chain_id)
    return Balance(
        balance=str(amount), decimals=token.decimals, symbol=token.symbol, formatted=formatted(amount, token)
    )
