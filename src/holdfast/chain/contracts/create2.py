"""CREATE2 addresses (EIP-1014), and those of the ERC-1167 clones that the factory creates as accounts."""

from __future__ import annotations

from holdfast.chain.contracts.addresses import APP_FACTORY, VAULT_ACCOUNT
from holdfast.wire.keccak import checksum_address, keccak256

# ERC-1167: 45 bytes of code that contain the implementation's address. X and Y of the account's first key follow them.
_CLONE_HEAD = bytes.fromhex("363d3d373d3d3d363d73")
_CLONE_TAIL = bytes.fromhex("5af43d82803e903d91602b57fd5bf3")
_CLONE_BYTES = 45 + 2 * 32
_CLONE_INIT = b"\x61" + _CLONE_BYTES.to_bytes(2) + bytes.fromhex("3d81600a3d39f3")  # returns the code that follows


def create2_address(deployer: str, salt: bytes, init_code_hash: bytes) -> str:
    """Return the EIP-55 address of the contract that `deployer` creates with this salt and init code hash (Keccak-256).

    Raises ValueError if an argument does not have the length that EIP-1014 requires.
    """
    parts = (bytes.fromhex(deployer.removeprefix("0x")), salt, init_code_hash)
    if [len(part) for part in parts] != [20, 32, 32]:
        raise ValueError("CREATE2 takes 20 bytes of deployer, 32 of salt and 32 of hash")
    return checksum_address(keccak256(b"\xff" + b"".join(parts))[12:])


def clone_code(implementation: str, x: int, y: int) -> bytes:
    """Return the code of a clone of `implementation` with the key X, Y. Raises OverflowError like `predict_account`."""
    return _clone_of(implementation) + x.to_bytes(32) + y.to_bytes(32)


def is_clone(code: bytes, implementation: str) -> bool:
    """Return whether this is the code of a clone of `implementation` with any key."""
    return len(code) == _CLONE_BYTES and code.startswith(_clone_of(implementation))


def _clone_of(implementation: str) -> bytes:
    return _CLONE_HEAD + bytes.fromhex(implementation.removeprefix("0x")) + _CLONE_TAIL


def predict_account(
    x: int, y: int, salt: int = 0, *, factory: str = APP_FACTORY, implementation: str = VAULT_ACCOUNT
) -> str:
    """Return the EIP-55 address of the account for a P-256 key and salt, as `AppFactory.getAddress` does.

    Args:
        x: X of the key, a uint256. As on the chain, the point need not be on the curve.
        y: Y of the key.
        salt: A uint256 that distinguishes accounts of one key.
        factory: The factory's address.
        implementation: The contract whose code the accounts run.

    Raises:
        OverflowError: A number is negative or has more than 256 bits.
    """
    return create2_address(factory, salt.to_bytes(32), keccak256(_CLONE_INIT + clone_code(implementation, x, y)))
