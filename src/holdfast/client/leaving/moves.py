"""What an account has, and the batch that moves it. Pure: each line that is shown belongs to a call that is signed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from holdfast.chain import calls, exit_calls
from holdfast.client.flows.accounts import address_in
from holdfast.client.flows.amounts import COIN_DECIMALS, amount_text, wei_text
from holdfast.wire.encoding import to_hex

Kind = Literal["token", "nft", "did", "deposit", "coin"]
_WEI: int = 10**COIN_DECIMALS
_AMOUNT = re.compile(r"([0-9]{1,24})(?:\.([0-9]{1,18}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """An ERC-20 token that the account has: `balance` in its smallest unit; `symbol` and `decimals` as it says."""

    address: str
    balance: int
    symbol: str
    decimals: int

    @property
    def text(self) -> str:
        """The amount and the token, for people."""
        return f"{amount_text(self.balance, self.decimals)} {self.symbol or 'units'} (token {self.address})"


@dataclass(frozen=True, slots=True)
class Nft:
    """An NFT that the account has. `pieces`: how many of an ERC-1155 token; None for ERC-721."""

    contract: str
    token_id: int
    pieces: int | None = None

    @property
    def text(self) -> str:
        """The NFT, for people."""
        named = f"NFT {self.token_id} of {self.contract}"
        return named if self.pieces is None else f"{self.pieces} of {named}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What an account has on one chain. `coin` and `deposit` (at the entry point) in wei; `did_hash` of its DID."""

    coin: int
    deposit: int
    did_hash: bytes | None
    tokens: tuple[Token, ...] = ()
    nfts: tuple[Nft, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where everything goes. `did_to`: the DID's next controller; None leaves the DID where it is."""

    account: str
    to: str
    did_to: str | None
    registry: str
    entry_point: str


@dataclass(frozen=True, slots=True)
class Move:
    """One call of the batch: `text` for people, `amount` in the smallest unit, wei or pieces."""

    kind: Kind
    text: str
    amount: int
    call: calls.Call

    def to_json(self) -> dict[str, object]:
        """Return the move for machines, with the call as it is signed. Amounts are decimal strings."""
        target, value, data = self.call
        call = {"to": target, "value": str(value), "data": to_hex(data)}
        return {"kind": self.kind, "amount": str(self.amount), "text": self.text, "call": call}


def moves_of(held: Holdings, where: Destination, *, coin: int, deposit: int) -> list[Move]:
    """Return the batch that moves everything: tokens, NFTs, the DID, and last `deposit` and `coin` (wei)."""
    tokens = [_token(token, where) for token in held.tokens if token.balance]
    did = [_did(held.did_hash, where.registry, where.did_to)] if held.did_hash and where.did_to else []
    return [
        *tokens,
        *(_nft(nft, where) for nft in held.nfts),
        *did,
        *([_deposit(deposit, where)] if deposit else []),
        *([_coin(coin, where)] if coin else []),
    ]


def coin_after(held: Holdings, cost: int) -> int:
    """Return the coin left to send after an operation that may cost `cost` wei, which its deposit pays first.

    Raises ValueError if coin and deposit are not enough.
    """
    left = held.coin - max(cost - held.deposit, 0)
    if left < 0:
        raise ValueError("the account cannot pay the operation's fees")
    return left


def wei_of(text: str) -> int:
    """Return the wei of an amount of the chain's coin, such as `0.01`. Raises ValueError."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]} is not an amount of the chain's coin")
    return int(found[1]) * _WEI + int((found[2] or "").ljust(COIN_DECIMALS, "0"))


def nft_of(text: str) -> tuple[str, int]:
    """Return contract and ID of an NFT written `ADDRESS:ID`. Raises ValueError."""
    contract, _, number = text.partition(":")
    if not (number.isascii() and number.isdigit()) or int(number) >= 1 << 256:
        raise ValueError("--nft: ADDRESS:ID, with the ID as a decimal number")
    return address_in(contract, "--nft"), int(number)


def _token(token: Token, where: Destination) -> Move:
    call = calls.transfer(token.address, where.to, token.balance)
    return Move("token", f"{token.text} to {where.to}", token.balance, call)


def _nft(nft: Nft, where: Destination) -> Move:
    if nft.pieces is None:
        call = exit_calls.send_nft(nft.contract, where.account, where.to, nft.token_id)
    else:
        call = exit_calls.send_pieces(nft.contract, where.account, where.to, nft.token_id, nft.pieces)
    return Move("nft", f"{nft.text} to {where.to}", nft.pieces or 1, call)


def _did(did_hash: bytes, registry: str, to: str) -> Move:
    call = exit_calls.change_controller(registry, did_hash, to)
    return Move("did", f"the DID to {to}, which then has to accept it", 1, call)


def _deposit(wei: int, where: Destination) -> Move:
    call = exit_calls.withdraw_deposit(where.entry_point, where.to, wei)
    return Move("deposit", f"{wei_text(wei)} deposited at the entry point to {where.to}", wei, call)


def _coin(wei: int, where: Destination) -> Move:
    return Move("coin", f"{wei_text(wei)} to {where.to}", wei, (where.to, wei, b""))
