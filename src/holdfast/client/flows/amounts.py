"""Amounts of tokens and of a chain's coin, as people write them: exactly, whatever their size."""

from __future__ import annotations

COIN, COIN_DECIMALS = "ETH", 18


def amount_text(amount: int, decimals: int) -> str:
    """Return an amount of smallest units as a decimal number without trailing zeros."""
    whole, part = divmod(amount, 10**decimals)
    return f"{whole}.{part:0{decimals}d}".rstrip("0") if part else str(whole)


def wei_text(wei: int) -> str:
    """Return an amount of the chain's coin."""
    return f"{amount_text(wei, COIN_DECIMALS)} {COIN}"
