"""Whether a chain has the precompile for P-256 (RIP-7212), without which contracts verify keys in Solidity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient

_PRECOMPILE = "0x" + "00" * 18 + "0100"
# SHA-256 of "holdfast", its signature by the key 1, and that key, for which the precompile returns 1.
_VALID = bytes.fromhex(
    "d1580d2df7f24b6f5e2a861eba2918755c3a7246b7068817e349d8adc66a8566"
    "5cf94c8a3692c9e4e75948dd2a2fe8cb8da525ee20e51acde70f5995b3f829c4"
    "57b3b50765dc57b1989d845eb5c6d44e2d4c78df72b315fe2028dd108398a633"
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)


async def has_precompile(chain: RpcClient) -> bool:
    """Ask the node. Raises RpcError."""
    result = values.data(await chain.call("eth_call", [{"to": _PRECOMPILE, "data": to_hex(_VALID)}, "latest"]))
    return int.from_bytes(result) == 1
