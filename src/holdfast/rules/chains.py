"""The table of chains, their explorers, and their tokens for the balance endpoint."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_CHAIN_ID = 84532


@dataclass(frozen=True, slots=True)
class Network:
    """A chain as shown to people.

    Attributes:
        chain_id: EIP-155 ID.
        name: for people, shown by /api/status and the payment page.
        explorer: URL of its Blockscout, which shows a user operation by its hash under `/op/`.
        test_money: whether its coin and tokens have no value.
    """

    chain_id: int
    name: str
    explorer: str
    test_money: bool


@dataclass(frozen=True, slots=True)
class Chain(Network):
    """A chain from which the service can read.

    Attributes:
        public_rpc: the chain's public JSON-RPC endpoint, used unless a setting names another.
        usdc: address of the USDC token, where the chain has one.
    """

    public_rpc: str
    usdc: str | None


NETWORKS: dict[int, Network] = {
    84532: Chain(
        84532,
        "Base Sepolia",
        "https://base-sepolia.blockscout.com",
        test_money=True,
        public_rpc="https://sepolia.base.org",
        usdc="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    ),
    8453: Chain(
        8453,
        "Base",
        "https://base.blockscout.com",
        test_money=False,
        public_rpc="https://mainnet.base.org",
        usdc="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    ),
    1: Network(1, "Ethereum", "https://eth.blockscout.com", test_money=False),
}
CHAINS: dict[int, Chain] = {number: chain for number, chain in NETWORKS.items() if isinstance(chain, Chain)}


def operation_page(chain_id: int, operation_hash: str) -> str:
    """Return the URL of the explorer's page for a user operation (0x-hex hash), or "" for a chain that has no row."""
    network = NETWORKS.get(chain_id)
    return f"{network.explorer}/op/{operation_hash}" if network else ""


@dataclass(frozen=True, slots=True)
class Token:
    """A token whose balance can be queried."""

    symbol: str
    decimals: int
    keep_zeros: bool


TOKENS = {"ETH": Token("ETH", 18, keep_zeros=False), "USDC": Token("USDC", 6, keep_zeros=True)}


def formatted(amount: int, token: Token) -> str:
    """Return the amount as a decimal number of tokens.

    For ETH, trailing zeros are dropped, except for one right after the decimal point.
    """
    whole, fraction = divmod(amount, 10**token.decimals)
    digits = f"{fraction:0{token.decimals}d}"
    if not token.keep_zeros:
        digits = digits.rstrip("0") or "0"
    return f"{whole}.{digits}"
