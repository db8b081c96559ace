"""Other makers' verifiers of an account's signatures: viem (ERC-6492) and OpenZeppelin's SignatureChecker (ERC-1271)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.world import node

FOLDER = Path(__file__).parents[1] / "peers"

needs_viem = pytest.mark.skipif(
    not (FOLDER / "node_modules" / "viem").is_dir(),
    reason="tests/peers/node_modules lacks viem: make setup installs it",
)


def hashed(typed: dict[str, Any]) -> dict[str, str]:
    """Return separator, contents and type of typed data, as viem computes them."""
    found: dict[str, str] = _ran("hashed", typed)
    return found


def signed_by_wallet(block: str, address: str, text: str, typed: dict[str, Any]) -> dict[str, Any]:
    """Return what reaches an account's signer through viem's wallet client, and the signatures that come back.

    The block of JavaScript makes `viemAccount` of `client.account()`.
    """
    found: dict[str, Any] = _ran("wallet", {"block": block, "address": address, "text": text, "typed": typed})
    return found


def verified(rpc: str, account: str, signature: str | bytes, **asked: Any) -> tuple[bool, bool]:
    """Return what viem and OpenZeppelin's checker say of the signature of `text=…` or `typed=…`."""
    hexed = signature if isinstance(signature, str) else "0x" + signature.hex()
    told = _ran("verify", {"rpc": rpc, "account": account, "signature": hexed, **asked})
    return told["viem"], told["openZeppelin"]


def _ran(task: str, given: Any) -> Any:
    program = str((node.folder() or Path("/usr")) / "bin" / "node")
    done = subprocess.run(
        [program, str(FOLDER / "account_signatures.js"), task],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=FOLDER,
        env={**os.environ, "PATH": node.search_path()},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
