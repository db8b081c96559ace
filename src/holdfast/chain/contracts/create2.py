"""CREATE2 addresses (EIP-1014), and those of the ERC-1167 clones that the factory creates as accounts."""

from __future__ import annotations

from holdfast.chain.contracts.addresses import APP_FACTORY, VAULT_ACCOUNT
from holdfast.wire.keccak import checksum_address, keccak256

# ERC-1167: 10 bytes of init code return the 45 bytes of code that follow, which contain the implementation's address.
_CLONE_HEAD = bytes.fromhex("3d602d80600a3d3981f3363d3d373d3d3d363d73")
_CLONE_INIT_BYTES = 10
_CLONE_TAIL = bytes.fromhex("5af43d82803e903d91602b57fd5bf3")


def create2_address(deployer: str, salt: bytes, init_code_hash: bytes) -> str:
    """Return the EIP-55 address of the contract that `deployer` creates with this salt and init code hash (Keccak-256).

    Raises ValueError if an argument does not have the length that EIP-1014 requires.
    """
    parts = (bytes.fromhex(deployer.removeprefix("0x")), salt, init_code_hash)
    if [len(part) for part in parts] != [20, 32, 32]:
        raise ValueError("CREATE2 takes 20 bytes of deployer, 32 of salt and 32 of hash")
    return checksum_address(keccak256(b"\xff" + b"".join(parts))[12:])


def clone_init_code(implementation: str) -> bytes:
    """Return the init code of an ERC-1167 clone of `implementation`."""
    return _CLONE_HEAD + bytes.fromhex(implementation.removeprefix("0x")) + _CLONE_TAIL


def clone_code(implementation: str) -> bytes:
    """Return the code that a clone of `implementation` has once it is deployed."""
    return clone_init_code(implementation)[_CLONE_INIT_BYTES:]


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
    words = b"".join(word.to_bytes(32) for word in (x, y, salt))
    return create2_address(factory, keccak256(words), keccak256(clone_init_code(implementation)))
