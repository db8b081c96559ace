"""The input for block explorers is sufficient by itself to compile exactly the deployed code."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from holdfast.chain.contracts import PRODUCTION, load

from tests.support.fresh_chain import CONTRACTS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.world.tools import Tools

pytestmark = pytest.mark.timeout(900)


def test_the_input_gives_the_deployed_code_without_any_other_file(tools: Tools, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    command = [sys.executable, str(ROOT / "tools" / "explorer_input.py"), str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[0].startswith("compiler v0.8.37+commit.")

    # The shim prevents solc-js from reading imports from files.
    solc = [tools.node, str(CONTRACTS / "solc-shim.mjs")]
    done = subprocess.run(solc, input=path.read_bytes(), capture_output=True, check=True)
    output = json.loads(done.stdout)
    assert "errors" not in output
    for name, line in zip(PRODUCTION, told[1:], strict=True):
        shown, address, place, rest = line.split("  ")
        assert (shown, address) == (name, load(name).address)
        source, _, contract = place.rpartition(":")
        code = bytes.fromhex(output["contracts"][source][contract]["evm"]["bytecode"]["object"])
        argument = bytes.fromhex(rest.removeprefix("constructor argument ")) if rest[:2] == "co" else b""
        assert code + argument == load(name).init_code
