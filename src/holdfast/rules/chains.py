"""THE table of chains, and what the balance endpoint needs of them."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_CHAIN_ID = 84532


@dataclass(frozen=True, slots=True)
class Chain:
    """One supported chain.

    Attributes:
        chain_id: EIP-155 ID.
        name: for people, shown by /api/status.
        public_rpc: the chain's public JSON-RPC endpoint, used unless a setting names another.
        usdc: address of the USDC token, where the chain has one.
    """

    chain_id: int
    name: str
    public_rpc: str
    usdc: str | None


CHAINS: dict[int, Chain] = {
    84532: Chain(84532, "Base Sepolia", "https://sepolia.base.org", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
    8453: Chain(8453, "Base", "https://mainnet.base.org", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A token whose balance can be asked for."""

    symbol: str
    decimals: int
    keep_zeros: bool


TOKENS = {"ETH": Token("ETH", 18, keep_zeros=False), "USDC": Token("USDC", 6, keep_zeros=True)}


def formatted(amount: int, token: Token) -> str:
    """The amount scaled by the token's decimals; ETH sheds trailing zeros but keeps one digit after the point."""
    whole, fraction = divmod(amount, 10**token.decimals)
    digits = f"{fraction:0{token.decimals}d}"
    if not token.keep_zeros:
        digits = digits.rstrip("0") or "0"
    return f"{whole}.{digits}"
