"""Development accounts, whose private keys are public, and the check that prevents their use on real chains.

The accounts are derived from the mnemonic "test test … junk", and all development chains give them funds. On a public
chain, anyone can take what these accounts own. Therefore only `unlock` returns the accounts' keys, after checking the
chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.chain.contracts import DEV_SPONSOR
from holdfast.world.errors import NotALocalChain

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient

LOCAL_CHAIN_IDS = frozenset({84532, 31337})


@dataclass(frozen=True, slots=True)
class DevelopmentAccount:
    """A funded account of the local chain: its EIP-55 address, and its private key in hex, which is publicly known."""

    address: str
    private_key: str


@dataclass(frozen=True, slots=True)
class DevelopmentAccounts:
    """The development accounts, named by their roles in the local development environment."""

    tester: DevelopmentAccount
    executor: DevelopmentAccount
    utility: DevelopmentAccount
    sponsor: DevelopmentAccount


_ACCOUNTS = DevelopmentAccounts(
    tester=DevelopmentAccount(
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    ),
    executor=DevelopmentAccount(
        "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    ),
    utility=DevelopmentAccount(
        "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
        "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
    ),
    sponsor=DevelopmentAccount(
        DEV_SPONSOR,
        "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
    ),
)


async def unlock(rpc: RpcClient, rpc_url: str, started_as: int | None = None) -> DevelopmentAccounts:
    """Return the accounts if the chain is a development chain on this machine. Raises NotALocalChain, RpcError.

    `started_as`: the ID with which the caller itself started the chain, which may be that of a public chain.
    """
    if not _is_loopback(rpc_url):
        raise NotALocalChain("development keys are refused: the chain's endpoint is not on this machine")
    version = await rpc.call("web3_clientVersion")
    if not str(version).lower().startswith("anvil/"):
        raise NotALocalChain("development keys are refused: the chain is not a local development chain (anvil)")
    chain_id = await rpc.chain_id()
    if chain_id not in LOCAL_CHAIN_IDS | {started_as}:
        raise NotALocalChain(f"development keys are refused on chain {chain_id}")
    if await _is_a_fork(rpc):
        raise NotALocalChain("development keys are refused: the chain is a fork of a real one")
    return _ACCOUNTS


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _is_a_fork(rpc: RpcClient) -> bool:
    """Return whether the chain is a fork.

    Signatures made for a fork are also valid on the chain from which it was forked.
    """
    info = await rpc.call("anvil_nodeInfo")
    fork = info.get("forkConfig", {}) if isinstance(info, dict) else {}
    return bool(fork.get("forkUrl"))
