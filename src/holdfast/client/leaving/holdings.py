"""Reads what an account has from a chain node."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.errors import RpcError, TransportError
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.leaving.moves import Holdings, Nft, Token
from holdfast.wire.abi import WORD, content, word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain.rpc import RpcClient

_LONGEST_SYMBOL, _MOST_DECIMALS = 12, 36


async def holdings_of(
    chain: RpcClient,
    account: str,
    *,
    tokens: Iterable[str],
    usdc: str | None,
    nfts: Iterable[tuple[str, int]],
    registry: str,
    entry_point: str,
) -> Holdings:
    """Return what the account has. `usdc` is left out on a chain without it; the other tokens must exist.

    Raises:
        OperationFailed: a named address is not a token, or a named NFT is not the account's.
        RpcError: the node does not answer.
    """
    named = list(dict.fromkeys(tokens))
    if usdc is not None and usdc not in named and await chain.get_code(usdc):
        named.insert(0, usdc)
    return Holdings(
        coin=await chain.get_balance(account),
        deposit=await _number(chain, entry_point, "balanceOf(address)", account),
        did_hash=await _did_of(chain, registry, account),
        tokens=tuple(await asyncio.gather(*(_token(chain, token, account) for token in named))),
        nfts=tuple([await _nft(chain, contract, number, account) for contract, number in dict.fromkeys(nfts)]),
    )


async def _token(chain: RpcClient, token: str, account: str) -> Token:
    try:
        balance = await _number(chain, token, "balanceOf(address)", account)
    except TransportError:
        raise
    except RpcError as error:
        raise OperationFailed(f"{token} is not an ERC-20 token on this chain") from error
    return Token(token, balance, await _symbol(chain, token), await _decimals(chain, token))


async def _nft(chain: RpcClient, contract: str, number: int, account: str) -> Nft:
    owner = await _maybe(chain, contract, "ownerOf(uint256)", number)
    if owner == int(account, 16):
        return Nft(contract, number)
    if pieces := await _maybe(chain, contract, "balanceOf(address,uint256)", account, number):
        return Nft(contract, number, pieces)
    raise OperationFailed(f"the account does not have the NFT {number} of {contract}")


async def _did_of(chain: RpcClient, registry: str, account: str) -> bytes | None:
    found = await _maybe(chain, registry, "didOf(address)", account)
    return found.to_bytes(WORD) if found else None


async def _symbol(chain: RpcClient, token: str) -> str:
    """Return what the token calls itself, or an empty text. It is shown next to the address, which counts."""
    try:
        result = await chain.eth_call(token, call_data("symbol()"))
        text = content(result, word(result, 0)).decode()[:_LONGEST_SYMBOL]
    except TransportError:
        raise
    except (RpcError, ValueError):
        return ""
    return text if text.isprintable() else ""


async def _decimals(chain: RpcClient, token: str) -> int:
    found = await _maybe(chain, token, "decimals()") or 0
    return found if found <= _MOST_DECIMALS else 0


async def _maybe(chain: RpcClient, contract: str, signature: str, *given: object) -> int | None:
    """Return the first word of a call's result, None for a contract that does not answer."""
    try:
        return await _number(chain, contract, signature, *given)
    except TransportError:
        raise
    except RpcError:
        return None


async def _number(chain: RpcClient, contract: str, signature: str, *given: object) -> int:
    return int.from_bytes(word(await chain.eth_call(contract, call_data(signature, *given)), 0))
