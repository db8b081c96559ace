"""What is noted about a payment for the list of payments on every device of the vault."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.chain.contracts import ADDRESSES
from holdfast.client.snapshots.payment_notes import PaymentNote
from holdfast.client.types import NATIVE
from holdfast.rules.chains import CHAINS

if TYPE_CHECKING:
    from holdfast.client.types import PaymentParams
    from holdfast.wire.models import ServedChain

_COIN, _COIN_DECIMALS = "ETH", 18
_USDC, _USDC_DECIMALS = "USDC", 6


def payment_note(
    params: PaymentParams, payee: str, user_op_hash: str, called: str | None, there: ServedChain | None = None
) -> PaymentNote:
    """Return the note about a payment that has been signed and is about to be sent.

    Args:
        params: the payment.
        payee: the address that is paid.
        user_op_hash: 0x-hex.
        called: the payee as the person knows it; None: as in `params`.
        there: the chain, if it is not the service's main chain; the note names it after the token.
    """
    symbol, decimals = _unit(params, there.usdc if there else None)
    return PaymentNote(
        hash=user_op_hash.lower(),
        to=called or params.to,
        address=payee,
        amount=_decimal(int(params.amount), decimals),
        symbol=symbol if there is None else f"{symbol} on {_name_of(there)}",
        time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        state="sent",
        label=params.label,
    )


def _decimal(amount: int, decimals: int) -> str:
    whole, rest = divmod(amount, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}".rstrip("0").rstrip(".") if rest else str(whole)


def _name_of(chain: ServedChain) -> str:
    known = CHAINS.get(chain.chain_id)
    name, test_money = (known.name, known.test_money) if known else (chain.name, chain.test_money)
    return f"{name} (test money)" if test_money else name


def _unit(params: PaymentParams, usdc: str | None) -> tuple[str, int]:
    """Return the token's symbol and decimals; for an unknown token its address and 0."""
    if params.token == NATIVE:
        return _COIN, _COIN_DECIMALS
    chain, token = CHAINS.get(params.chain_id), params.token.lower()
    known = {each.lower() for each in (ADDRESSES["DevUSDC"], usdc, chain and chain.usdc) if each}
    return (_USDC, _USDC_DECIMALS) if token in known else (params.token, 0)
