"""The input for block explorers is what `make check` compiles to the deployed code, and needs no other file."""

import json
import re
import subprocess
import sys
from posixpath import dirname, join, normpath

from tests.support.fresh_chain import ROOT

from holdfast.chain.contracts import PRODUCTION, load

IMPORT = re.compile(r"^import\s[^;]*?[\"']([^\"']+)[\"'];", re.MULTILINE)


def test_the_input_has_every_source_and_each_contract_its_row(tmp_path):
    path = tmp_path / "input.json"
    command = [sys.executable, str(ROOT / "tools" / "explorer_input.py"), str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[0].startswith("compiler v0.8.37+commit.")
    sources = {name: source["content"] for name, source in json.loads(path.read_bytes())["sources"].items()}
    for name, text in sources.items():
        for imported in IMPORT.findall(text):
            assert (normpath(join(dirname(name), imported)) if imported.startswith(".") else imported) in sources
    for name, line in zip(PRODUCTION, told[1:], strict=True):
        shown, address, place, rest = line.split("  ")
        source, _, contract = place.rpartition(":")
        assert (shown, address, contract) == (name, load(name).address, name)
        assert f"contract {name} " in sources[source]
        argument = bytes.fromhex(rest.removeprefix("constructor argument ")) if rest[:2] == "co" else b""
        assert load(name).init_code.endswith(argument)
