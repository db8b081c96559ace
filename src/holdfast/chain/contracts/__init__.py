"""Holdfast's contracts as data: their addresses, which are the same on all chains, their ABIs and their code.

Importing this loads constants only. `load` reads a contract's JSON file when it is first needed.
"""

from __future__ import annotations

from holdfast.chain.contracts.addresses import (
    ADDRESSES,
    DEFAULT_CONTRACT_SET,
    DETERMINISTIC_DEPLOYER,
    DEV_SPONSOR,
    ENTRY_POINT_V07,
    ENTRY_POINT_V08,
    ENTRY_POINT_V09,
    SALT,
)
from holdfast.chain.contracts.artifacts import DEVELOPMENT, NAMES, PRODUCTION, Contract, address, load
from holdfast.chain.contracts.commitments import ZERO_SECRET, commitment, commitments_needed
from holdfast.chain.contracts.create2 import clone_code, create2_address, is_clone, predict_account

__all__ = [
    "ADDRESSES",
    "DEFAULT_CONTRACT_SET",
    "DETERMINISTIC_DEPLOYER",
    "DEVELOPMENT",
    "DEV_SPONSOR",
    "ENTRY_POINT_V07",
    "ENTRY_POINT_V08",
    "ENTRY_POINT_V09",
    "NAMES",
    "PRODUCTION",
    "SALT",
    "ZERO_SECRET",
    "Contract",
    "address",
    "clone_code",
    "commitment",
    "commitments_needed",
    "create2_address",
    "is_clone",
    "load",
    "predict_account",
]
