"""The enclave's test vectors through the Python and the JavaScript host, and the Zig unit tests next to the module's code."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.support import vector_files
from tests.support.soak import amount

from holdfast.enclave import bundled
from holdfast.world.errors import NodeMissing
from holdfast.world.tools import OLDEST_NODE, find_node

CASES = vector_files.all_cases()


@pytest.mark.parametrize(("function", "case"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_vector(function, case):
    vector_files.run(function, case)


def test_each_file_states_its_claim_and_its_source():
    for path in sorted(vector_files.VECTORS.rglob("*.json")):
        content = json.loads(path.read_text())
        if "function" in content:
            assert content["claim"]
            assert content["source"]
            assert content["cases"], path


ROOT = Path(__file__).resolve().parents[2]


def test_vectors_of_every_file_and_the_host_itself():
    try:
        node = find_node()
    except NodeMissing:
        pytest.skip(f"Node {OLDEST_NODE} or newer is missing: the JavaScript host was not tested")
    most = amount(3, 10**6)
    program = ROOT / "browser" / "test" / "run_vectors.js"
    command = [node, str(program), str(bundled()), str(ROOT / "vectors"), str(most)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = json.loads(ran.stdout.splitlines()[-1])
    assert summary["failed"] == 0
    of_files = Counter(name.partition(":")[0] for name, _, _ in vector_files.all_cases())
    assert summary["cases"] == sum(min(cases, most) for cases in of_files.values())
    assert summary["host_tests"] >= 20


def test_the_host_needs_only_the_error_classes():
    source = ROOT / "browser" / "src"
    imported = re.findall(r'^import (?!type ).* from "(.*?)"', (source / "enclave-host.ts").read_text(), re.MULTILINE)
    assert imported == ["./errors.ts"]
    assert "import " not in (source / "errors.ts").read_text()
    package = json.loads((ROOT / "browser" / "package.json").read_text())
    assert "dependencies" not in package


SOURCES = ROOT / "enclave" / "src"
CACHE = ROOT / "build" / "tests" / "zig"  # only what changed is compiled again


@pytest.mark.timeout(600)
def test_the_codecs_unit_tests():
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ziglang", "test", str(SOURCES / "unit_test.zig"), "--cache-dir", str(CACHE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CACHE, timeout=590)
    assert ran.returncode == 0, ran.stderr
    passed = re.search(r"All (\d+) tests passed", ran.stderr)
    assert passed, ran.stderr
    assert int(passed[1]) >= 18
