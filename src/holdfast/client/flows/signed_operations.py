"""Remembers what was signed for an account and not seen mined, so that at most one such operation can take effect.

Whoever received a signed operation can have it mined later, even after refusing it. Two operations with the same nonce
exclude each other, so until the outcome is known, every further operation of the account gets the same nonce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.fees import Fees
from holdfast.client.storage.notes import read_note, write_note
from holdfast.client.types import Record
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import keccak256
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.storage.notes import MemoryNotes
    from holdfast.client.storage.vault_store import VaultStore


NONCES = 2**64  # ERC-4337: a nonce's upper 192 bits are its key. Only nonces of the same key exclude each other


class Signed(Record, frozen=True, kw_only=True):
    """The operations that were signed for one nonce, by hash, each with the hash of its call data (0x-hex).

    `fees`: the highest of them, as decimals, because JSON's numbers are too small.
    """

    nonce: int
    calls: dict[str, str]
    fees: tuple[str, str] = ("0", "0")

    def calls_the_same(self, operation_hash: str, call_data: bytes) -> bool:
        """Return whether that operation makes the same call."""
        return self.calls.get(operation_hash) == _digest(call_data)


class SignedOperations:
    """The open operations of a vault's accounts.

    `slot` names an account of an entry point on a chain, and what its nonces' key is for. Raises StorageError.
    """

    def __init__(self, notes: VaultStore | MemoryNotes) -> None:
        self._notes = notes

    def open_at(self, slot: str) -> Signed | None:
        """Return what was signed for the account and not settled."""
        return read_note(self._notes, _name(slot), Signed)

    def next_nonce(self, slot: str) -> int:
        """Return the nonce after that of the last operation that was seen mined, 0 if none was.

        The service's state of the account may be older.
        """
        return read_note(self._notes, f"next:{slot}", int) or 0

    def least_fees(self, slot: str) -> Fees:
        """Return what the next operation must offer so that bundlers replace the open one by it."""
        known = self.open_at(slot)
        if known is None:
            return Fees(0, 0)
        more, of = OPERATIONS.replacing
        return Fees(*(-(-int(fee) * more // of) for fee in known.fees))

    def note(self, slot: str, operation: UserOperation, operation_hash: bytes) -> None:
        """Record the operation before it is sent. The place determines its nonce's key."""
        known, nonce = self.open_at(slot), operation.nonce % NONCES
        if known is None or known.nonce != nonce:
            known = Signed(nonce=nonce, calls={})
        calls = {**known.calls, to_hex(operation_hash): _digest(operation.call_data)}
        fees = operation.fees.at_least(Fees(*map(int, known.fees)))
        write_note(self._notes, _name(slot), Signed(nonce=nonce, calls=calls, fees=(str(fees[0]), str(fees[1]))))

    def mined(self, slot: str, operation_hash: str) -> None:
        """Record that the operation was mined, which rules out the others with its nonce."""
        known = self.open_at(slot)
        if known is not None and operation_hash in known.calls:
            write_note(self._notes, f"next:{slot}", known.nonce + 1)
            if others := [name for name in known.calls if name != operation_hash]:
                replaced = [*self.replaced(slot), *others][-OPERATIONS.replaced :]
                write_note(self._notes, f"replaced:{slot}", replaced)
            self.forget(slot)

    def replaced(self, slot: str) -> list[str]:
        """Return the operations that can never be mined, because another one with their nonce was."""
        return read_note(self._notes, f"replaced:{slot}", list[str]) or []

    def forget(self, slot: str) -> None:
        """Drop what was signed, because its nonce was used by something else."""
        self._notes.set_note(_name(slot), None)

    def forget_next(self, slot: str) -> None:
        """Drop the next nonce, because it was refused: another device has used it, or the chain is a new one."""
        self._notes.set_note(f"next:{slot}", None)


def _name(slot: str) -> str:
    return f"signed:{slot}"


def _digest(call_data: bytes) -> str:
    return to_hex(keccak256(call_data))
