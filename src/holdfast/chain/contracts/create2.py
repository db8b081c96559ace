"""Addresses that follow from code: CREATE2 (EIP-1014) and the clones (ERC-1167) that the factory makes by it."""

from __future__ import annotations

from holdfast.chain.contracts.addresses import APP_FACTORY, VAULT_ACCOUNT
from holdfast.wire.keccak import checksum_address, keccak256

# ERC-1167: init code of 10 bytes that returns the 45 bytes around the implementation's address.
_CLONE_HEAD = bytes.fromhex("3d602d80600a3d3981f3363d3d373d3d3d363d73")
_CLONE_INIT_BYTES = 10
_CLONE_TAIL = bytes.fromhex("5af43d82803e903d91602b57fd5bf3")


def create2_address(deployer: str, salt: bytes, init_code_hash: bytes) -> str:
    """EIP-55 address of the contract that `deployer` creates with a 32-byte salt and code of that Keccak-256.

    Raises ValueError when an argument has another length than EIP-1014 gives it.
    """
    parts = (bytes.fromhex(deployer.removeprefix("0x")), salt, init_code_hash)
    if [len(part) for part in parts] != [20, 32, 32]:
        raise ValueError("CREATE2 takes 20 bytes of deployer, 32 of salt and 32 of hash")
    return checksum_address(keccak256(b"\xff" + b"".join(parts))[12:])


def clone_init_code(implementation: str) -> bytes:
    """Init code of the ERC-1167 clone of `implementation`."""
    return _CLONE_HEAD + bytes.fromhex(implementation.removeprefix("0x")) + _CLONE_TAIL


def clone_code(implementation: str) -> bytes:
    """The code of that clone once it is deployed."""
    return clone_init_code(implementation)[_CLONE_INIT_BYTES:]


def predict_account(
    x: int, y: int, salt: int = 0, *, factory: str = APP_FACTORY, implementation: str = VAULT_ACCOUNT
) -> str:
    """EIP-55 address of the vault account of a P-256 key and salt: what `AppFactory.getAddress` answers.

    Args:
        x: X of the key, a uint256. As on chain, it need not lie on the curve.
        y: Y of the key.
        salt: What tells accounts of one key apart, a uint256.
        factory: The factory's address.
        implementation: The code that its accounts run.

    Raises:
        OverflowError: A number is negative or has more than 256 bits.
    """
    words = b"".join(word.to_bytes(32) for word in (x, y, salt))
    return create2_address(factory, keccak256(words), keccak256(clone_init_code(implementation)))
