"""The table of chains: names, endpoints, explorers, whose money is real, and the tokens of the balance endpoint."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_CHAIN_ID = 84532


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain that Holdfast knows, or that an operator's chain file describes.

    Attributes:
        chain_id: EIP-155 ID.
        name: for people, shown by /api/status and the pages.
        explorer: URL of its Blockscout, which shows a user operation by its hash under `/op/`; "" if none exists.
        test_money: whether its coin and tokens have no value.
        rpc: its JSON-RPC endpoint, used unless a setting names another.
        public_rpc: an endpoint that may be published; None if `rpc` may be, without what could be a key.
        usdc: address of the USDC token, where the chain has one.
        bundler: URL of its ERC-4337 bundler, if one is known.
    """

    chain_id: int
    name: str
    explorer: str
    test_money: bool
    rpc: str
    public_rpc: str | None = None
    usdc: str | None = None
    bundler: str | None = None

    @property
    def shown_rpc(self) -> str:
        """The endpoint that may be published; "" if none exists."""
        return self.public_rpc or ""


CHAINS: dict[int, Chain] = {
    84532: Chain(
        chain_id=84532,
        name="Base Sepolia",
        explorer="https://base-sepolia.blockscout.com",
        test_money=True,
        rpc="https://sepolia.base.org",
        usdc="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    ),
    8453: Chain(
        chain_id=8453,
        name="Base",
        explorer="https://base.blockscout.com",
        test_money=False,
        rpc="https://mainnet.base.org",
        usdc="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    ),
    1: Chain(
        chain_id=1,
        name="Ethereum",
        explorer="https://eth.blockscout.com",
        test_money=False,
        rpc="https://ethereum-rpc.publicnode.com",
        usdc="0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    ),
}
# Every service reads balances on these (interface: supported chains for balance), whatever its main chain is.
BALANCE_CHAIN_IDS = (84532, 8453)


def money_text(name: str, chain_id: int, *, test_money: bool) -> str:
    """Return a chain's name and ID, and whether its money is real, for people to read next to an amount."""
    return f"{name} ({chain_id}), {'test money without value' if test_money else 'real money'}"


def known_money_text(chain_id: int) -> str:
    """Return the same for a known chain; for another chain its ID."""
    chain = CHAINS.get(chain_id)
    return money_text(chain.name, chain_id, test_money=chain.test_money) if chain else f"chain {chain_id}"


def operation_page(explorer: str, operation_hash: str) -> str:
    """Return the URL of the explorer's page for a user operation (0x-hex hash), or "" without an explorer."""
    return f"{explorer}/op/{operation_hash}" if explorer else ""


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
