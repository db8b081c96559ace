"""The paymaster of a service: `VerifyingPaymaster`, whose address follows from the address of the key that approves."""

from __future__ import annotations

from dataclasses import replace

from holdfast.chain.contracts.addresses import DETERMINISTIC_DEPLOYER, DEV_SPONSOR, SALT
from holdfast.chain.contracts.artifacts import Contract, load
from holdfast.chain.contracts.create2 import create2_address
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256


def paymaster_of(signer: str) -> Contract:
    """Return the paymaster that pays for what the key of the address `signer` approves, deployed or not.

    The package has its code for a development key, in which the constructor's argument is replaced.
    """
    known = load("VerifyingPaymaster")
    argument, given = _word(DEV_SPONSOR), _word(signer)
    init_code = known.init_code.removesuffix(argument) + given
    return replace(
        known,
        init_code=init_code,
        runtime=known.runtime.replace(argument, given),
        address=create2_address(DETERMINISTIC_DEPLOYER, SALT, keccak256(init_code)),
    )


def _word(address: str) -> bytes:
    return from_hex(address).rjust(32, b"\x00")
