"""The compiled contracts: JSON files in this folder, written by tools/compile_contracts.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.chain.contracts import addresses
from holdfast.wire.keccak import keccak256

# In deployment order: no contract refers to one that is deployed after it.
PRODUCTION = ("VaultAccount", "AppFactory", "DIDRegistry", "AccountHelper", "SessionSBT")
DEVELOPMENT = ("DevUSDC", "VerifyingPaymaster")
NAMES = PRODUCTION + DEVELOPMENT


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One compiled contract."""

    name: str
    abi: list[dict[str, Any]]
    init_code: bytes  # init code, constructor arguments included
    runtime: bytes  # runtime code, immutables included: the code at `address` once deployed
    address: str  # EIP-55

    @property
    def deployment(self) -> bytes:
        """Return the call data for the deterministic deployer: the salt, then the init code."""
        return addresses.SALT + self.init_code

    @property
    def init_code_hash(self) -> bytes:
        """Return the Keccak-256 hash of the init code, from which the contract's address is derived."""
        return keccak256(self.init_code)


@cache
def load(name: str) -> Contract:
    """Return the contract called `name` (one of `NAMES`). Raises KeyError for other names."""
    if name not in NAMES:
        raise KeyError(name)
    data = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    code = {key: bytes.fromhex(data[key].removeprefix("0x")) for key in ("initCode", "runtime")}
    return Contract(
        name=name, abi=data["abi"], init_code=code["initCode"], runtime=code["runtime"], address=address(name)
    )


def address(name: str) -> str:
    """Return the contract's EIP-55 address, which is the same on all chains. Raises KeyError for an unknown name."""
    return addresses.ADDRESSES[name]
