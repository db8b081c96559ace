"""Writes the file with which block explorers and Sourcify verify the contracts, and prints the other values to enter.

    tools/explorer_input.py FILE    write solc's standard JSON input to FILE; print a table

The same file works for every contract: Etherscan ("Solidity (Standard-Json-Input)") and Sourcify accept it. The
compiled code contains no hash of the sources, so additional sources in the file make no difference.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from holdfast.chain.contracts import PRODUCTION, load
from holdfast.chain.contracts import artifacts as package_data

CONTRACTS = Path(__file__).resolve().parent.parent / "contracts"
_WORD = 32


def main() -> int:
    """Write the file for block explorers, and print the other values that must be entered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.parse_args().file.write_text(standard_json(), encoding="utf-8")
    print(table(), end="")
    return 0


def standard_json() -> str:
    """Return the standard JSON input for every contract deployed on public chains, including imported sources."""
    command = ["node", "compile.mjs", "--input"]
    done = subprocess.run(command, cwd=CONTRACTS, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"solc-js did not run (is contracts/node_modules installed?): {done.stderr}")
    return done.stdout


def table() -> str:
    """Return lines with the compiler and, for each contract, the address, source file and ABI-encoded argument."""
    lines = [f"compiler v{_compiler(PRODUCTION[0])}, settings as in the file"]
    lines += [f"{name}  {load(name).address}  {_source(name)}:{name}  {_argument(name)}" for name in PRODUCTION]
    return "\n".join(lines) + "\n"


def _source(name: str) -> str:
    return f"src/{name}.sol"


def _argument(name: str) -> str:
    """Return a text with the constructor's ABI-encoded argument, or one that says that none exists."""
    contract = load(name)
    takes = any(entry["type"] == "constructor" and entry["inputs"] for entry in contract.abi)
    return f"constructor argument {contract.init_code[-_WORD:].hex()}" if takes else "no constructor argument"


def _compiler(name: str) -> str:
    stored = Path(package_data.__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    version: str = json.loads(stored)["compiler"]
    return version.removesuffix(".Emscripten.clang")


if __name__ == "__main__":
    sys.exit(main())
