"""Signed EIP-1559 transactions, for the few commands that use an externally owned account (secp256k1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from eth_keys.datatypes import PrivateKey

_TYPE = b"\x02"  # EIP-2718 envelope of EIP-1559
_SHORT = 55  # RLP: longest content whose length fits into the first byte

Item = int | bytes | list["Item"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Transaction:
    """A call from an externally owned account. Fees are in wei per unit of gas."""

    chain_id: int
    nonce: int
    max_priority_fee_per_gas: int
    max_fee_per_gas: int
    gas: int
    to: bytes
    data: bytes = b""
    value: int = 0

    def signed(self, key: PrivateKey) -> bytes:
        """Return the signed bytes for `eth_sendRawTransaction`; their Keccak-256 is the transaction's hash."""
        signature = key.sign_msg_hash(keccak256(_TYPE + rlp(self._fields())))
        return _TYPE + rlp([*self._fields(), signature.v, signature.r, signature.s])

    def _fields(self) -> list[Item]:
        fees: list[Item] = [self.max_priority_fee_per_gas, self.max_fee_per_gas]
        return [self.chain_id, self.nonce, *fees, self.gas, self.to, self.value, self.data, []]


def rlp(item: Item) -> bytes:
    """Encode an item in RLP, recursive length prefix (Ethereum yellow paper, appendix B).

    Integers must not be negative.
    """
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8)
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < 0x80 else _prefixed(item, 0x80)  # noqa: PLR2004 - RLP's own bound
    return _prefixed(b"".join(rlp(part) for part in item), 0xC0)


def _prefixed(content: bytes, base: int) -> bytes:
    size = len(content)
    if size <= _SHORT:
        return bytes([base + size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([base + _SHORT + len(length)]) + length + content
