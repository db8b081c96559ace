"""Calls with which an account gives away what it has (docs/decisions/1001-accounts-have-several-owners.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data

if TYPE_CHECKING:
    from holdfast.chain.calls import Call


def send_nft(contract: str, account: str, to: str, token_id: int) -> Call:
    """Return the call that transfers an ERC-721 token. A contract that cannot receive such tokens refuses it."""
    return contract, 0, call_data("safeTransferFrom(address,address,uint256)", account, to, token_id)


def send_pieces(contract: str, account: str, to: str, token_id: int, amount: int) -> Call:
    """Return the call that transfers pieces of an ERC-1155 token."""
    signature = "safeTransferFrom(address,address,uint256,uint256,bytes)"
    return contract, 0, call_data(signature, account, to, token_id, amount, b"")


def change_controller(registry: str, did_hash: bytes, to: str) -> Call:
    """Return the call that names the DID's next controller, which then has to accept it."""
    return registry, 0, call_data("changeController(bytes32,address)", did_hash, to)


def withdraw_deposit(entry_point: str, to: str, wei: int) -> Call:
    """Return the call that pays out the account's deposit at the entry point."""
    return entry_point, 0, call_data("withdrawTo(address,uint256)", to, wei)
