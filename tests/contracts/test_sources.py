"""Sources of the contracts and of the packages have their licence and NatSpec; the compiled code is compared byte by byte."""

import json
import re
import subprocess
import sys

import pytest
from tests.support.fresh_chain import CONTRACTS
from tests.support.programs import program

IDENTIFIER = "Apache-2.0"


def test_every_contract_and_every_test_of_one_says_it():
    sources = sorted(path for folder in ("src", "test") for path in (CONTRACTS / folder).rglob("*.sol"))
    assert len(sources) > 50
    first_lines = {path.read_text().splitlines()[0] for path in sources}
    assert first_lines == {f"// SPDX-License-Identifier: {IDENTIFIER}"}


pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize(("stored", "exit_code"), [("code", 0), ("c0de", 1), ("code\n", 1), (None, 1)])
def test_the_check_notices_a_single_byte(tmp_path, monkeypatch, capsys, stored, exit_code):
    tool = program("tools/generated.py")
    if stored is not None:
        (tmp_path / "A.json").write_text(stored)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["compile_contracts.py", "--check"])
    assert tool.run(lambda: {tmp_path / "A.json": "code"}) == exit_code
    assert ("A.json" in capsys.readouterr().out) == bool(exit_code)


def test_lock_names_no_download_address():
    lock = (CONTRACTS / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    packages = json.loads(lock)["packages"]
    assert [path for path, package in packages.items() if path and "integrity" not in package] == []


SOURCES = sorted(str(path.relative_to(CONTRACTS)) for path in (CONTRACTS / "src").rglob("*.sol"))
PLACES = {"function": "methods", "event": "events", "error": "errors"}


@pytest.fixture(scope="module")
def compiled(tools):
    command = [tools.node, "compile.mjs", "--docs"]
    done = subprocess.run(command, cwd=CONTRACTS, capture_output=True, text=True, check=True)
    output = json.loads(done.stdout)["contracts"]
    return [(source, name, contract) for source in SOURCES for name, contract in output[source].items()]


def test_everything_of_ours_is_documented(compiled):
    gaps, seen = [], 0
    for source, name, contract in compiled:
        ours = _declared(source)
        for entry in contract["abi"]:
            if (entry["type"], entry.get("name")) in ours:
                seen += 1
                gaps += [f"{name}.{entry['name']}: {gap}" for gap in _gaps(entry, contract)]
    assert gaps == []
    assert seen > 90


def _declared(source):
    """Return the kind and name of each item that a source declares, without inherited items."""
    text = (CONTRACTS / source).read_text()
    return {(kind, name) for kind in PLACES for name in re.findall(rf"\b{kind} (\w+)\(", text)}


def _gaps(entry, contract):
    place, signature = PLACES[entry["type"]], _signature(entry)
    notice, details = (contract[doc].get(place, {}).get(signature, {}) for doc in ("userdoc", "devdoc"))
    if entry["type"] == "error":  # several contracts may declare the same error, so these are lists
        notice, details = notice[0] if notice else {}, details[0] if details else {}
    gaps = [] if notice.get("notice") else ["no notice"]
    gaps += [
        f"no @param {i['name']}" for i in entry["inputs"] if i["name"] and i["name"] not in details.get("params", {})
    ]
    if len(entry.get("outputs", [])) != len(details.get("returns", {})):
        gaps.append("no @return")
    return gaps


def _signature(entry):
    return f"{entry['name']}({','.join(_type(parameter) for parameter in entry['inputs'])})"


def _type(parameter):
    if not parameter["type"].startswith("tuple"):
        return str(parameter["type"])
    inner = ",".join(_type(part) for part in parameter["components"])
    return f"({inner}){parameter['type'].removeprefix('tuple')}"
