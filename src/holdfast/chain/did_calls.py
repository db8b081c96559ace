"""The calls by which an account changes a DID that it controls, and its aliases, and what the registry says of both.

The contract is contracts/src/DIDRegistry.sol. The JavaScript client's `chain/did_calls.ts` does the same
(vectors/accounts/did_calls.json).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.errors import ChainError
from holdfast.wire import abi
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import alias_hash, checksum_address, did_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.chain.calls import Call


def set_did_active(registry: str, did: str, *, active: bool) -> Call:
    """Return the call that deactivates a DID or activates it again."""
    return registry, 0, call_data("setDidActive(bytes32,bool)", did_hash(did), active)


def set_metadata(registry: str, did: str, cid: str) -> Call:
    """Return the call that sets the CID of a DID's metadata; an empty text removes it."""
    return registry, 0, call_data("setMetadata(bytes32,string)", did_hash(did), cid)


def change_controller(registry: str, did: str, proposed: str) -> Call:
    """Return the call that lets another account become a DID's controller; the zero address withdraws it."""
    return registry, 0, call_data("changeController(bytes32,address)", did_hash(did), proposed)


def accept_controller(registry: str, did: str) -> Call:
    """Return the call by which the proposed account becomes a DID's controller."""
    return registry, 0, call_data("acceptController(bytes32)", did_hash(did))


def set_alias_active(registry: str, alias: str, *, active: bool) -> Call:
    """Return the call that deactivates an alias or activates it again."""
    return registry, 0, call_data("setAliasActive(bytes32,bool)", alias_hash(alias), active)


def read_did(answer: bytes) -> tuple[str | None, bool, str]:
    """Return controller, state and metadata from what `getDid` returns. Raises ChainError for anything else."""
    with _of_registry():
        controller, active, metadata = (abi.word(answer, at) for at in range(3))
        return _account(controller), abi.boolean(active), abi.content(answer, metadata).decode("utf-8", "replace")


def read_proposed(answer: bytes) -> str | None:
    """Return the account from what `proposedController` returns. Raises ChainError for anything else."""
    with _of_registry():
        return _account(abi.word(answer, 0))


def read_alias(answer: bytes) -> tuple[str | None, str | None, bool]:
    """Return the DID's hash, its controller and the state from what `getAlias` returns. Raises ChainError."""
    with _of_registry():
        about, controller, active = (abi.word(answer, at) for at in range(3))
        return to_hex(about) if any(about) else None, _account(controller), abi.boolean(active)


@contextmanager
def _of_registry() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ChainError("the chain's endpoint returns something other than the registry's state") from error


def _account(word: bytes) -> str | None:
    address = abi.address(word)
    return checksum_address(address) if any(address) else None
