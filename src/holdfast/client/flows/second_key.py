"""The second key of an account where two owners must sign."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.chain.bundler import PLACEHOLDER_SIGNATURE
from holdfast.chain.two_keys import missing_text
from holdfast.client.flows.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable


class SecondKeyMissing(OperationFailed):
    """Two owners must sign, and no second key was given, or one that is not an owner.

    `keys` are the signers of which one must sign too. Nothing was signed.
    """

    def __init__(self, account: str, keys: Iterable[bytes]) -> None:
        self.keys = tuple(keys)
        super().__init__(missing_text(account, self.keys))


def _unused(_digest: bytes) -> bytes:
    raise AssertionError("only an owner signs")


@dataclass(frozen=True, slots=True)
class SecondKey:
    """Another owner's key, which signs after the vault's, over the same hash.

    Attributes:
        signer: the owner (64 bytes of a P-256 key, or an address); empty: no key. The client then still finds payments
            for which one key suffices, and names the missing key for others.
        sign: returns the signature over 32 bytes, or an awaitable of it. The blocking client calls it in the calling
            thread.
        placeholder: a signature of the same length, for estimates of gas.
        verification_gas: gas that the estimate with the placeholder lacks.
    """

    signer: bytes = b""
    sign: Callable[[bytes], bytes | Awaitable[bytes]] = field(default=_unused, repr=False)
    placeholder: bytes = field(default=PLACEHOLDER_SIGNATURE, repr=False)
    verification_gas: int = 0
