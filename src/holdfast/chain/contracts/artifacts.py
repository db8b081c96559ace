"""The compiled contracts: JSON files in this folder, written by tools/compile_contracts.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.chain.contracts import addresses
from holdfast.wire.keccak import keccak256

# In the order in which they deploy: nothing refers to a later one.
PRODUCTION = ("VaultAccount", "AppFactory", "DIDRegistry", "AccountHelper", "SessionSBT")
DEVELOPMENT = ("DevUSDC", "DevPaymaster")
NAMES = PRODUCTION + DEVELOPMENT


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One compiled contract."""

    name: str
    abi: list[dict[str, Any]]
    init_code: bytes  # with its constructor arguments
    runtime: bytes  # with its immutables filled in: what stands at `address` once deployed
    address: str  # EIP-55

    @property
    def deployment(self) -> bytes:
        """Call data for the deterministic deployer: salt, then init code."""
        return addresses.SALT + self.init_code

    @property
    def init_code_hash(self) -> bytes:
        """Keccak-256 of the init code, from which the address follows."""
        return keccak256(self.init_code)


@cache
def load(name: str) -> Contract:
    """The contract of that name (one of `NAMES`). Raises KeyError for another."""
    if name not in NAMES:
        raise KeyError(name)
    data = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    code = {key: bytes.fromhex(data[key].removeprefix("0x")) for key in ("initCode", "runtime")}
    return Contract(
        name=name, abi=data["abi"], init_code=code["initCode"], runtime=code["runtime"], address=address(name)
    )


def address(name: str) -> str:
    """EIP-55 address at which that contract stands on every chain. Raises KeyError for an unknown name."""
    return addresses.ADDRESSES[name]
