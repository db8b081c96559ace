"""All Solidity tests in contracts/test run without the P-256 precompile, and the account's tests also run with it.

They test the artifacts in the package, which `tools/compile_contracts.py --check` compares with the sources.
"""

import json
import os
import shutil
import subprocess

import pytest
from tests.support.clean_tree import files_of, run
from tests.support.fresh_chain import CONTRACTS
from tests.support.made_once import made_of
from tests.support.soak import SOAK

# HOLDFAST_FORGE_PROFILE=long runs about three hundred times as many fuzz cases, `make soak` four times as many.
MORE = {"FOUNDRY_FUZZ_RUNS": "128", "FOUNDRY_INVARIANT_RUNS": "32"} if SOAK else {}
PROFILE = os.environ.get("HOLDFAST_FORGE_PROFILE", "default")
FILES = "solidity-files-cache.json"  # which file is compiled, and from what
pytestmark = pytest.mark.timeout(1800 if PROFILE == "long" else 900)
# Each run's forge profile, arguments, minimum number of tests, and how many groups of gas snapshots it measures. The
# account's invariants and the comparisons of assertions take long without the precompile, and hold for the same code.
WITHOUT = () if PROFILE == "long" else ("--no-match-contract", "(Account|Guardian)InvariantsTest|AssertionsTest")
RUNS = (
    (PROFILE, ("--match-path", "test/**/*.t.sol", *WITHOUT), 340, 2),
    ("precompile", ("--match-path", "test/{VaultAccount/*,Gas}.t.sol"), 200, 2),
    ("trace", ("--match-path", "test/trace/*"), 6, 0),
)


def test_contracts(forge):
    _with_compiled_tests(forge)
    # A single test performs the runs one after the other, because all write to forge's cache.
    for profile, arguments, at_least, groups in RUNS:
        results = _run(forge, profile, arguments)
        assert {name: result["reason"] for name, result in results.items() if result["status"] != "Success"} == {}
        assert len(results) >= at_least
        _compare_gas(results, groups)


def _with_compiled_tests(forge):
    """Let a new checkout begin with what another compiled from the same files, which takes half a minute."""
    compiled = made_of(files_of("contracts"), "forge", lambda folder: _compile_into(folder, forge))
    if not (CONTRACTS / "cache" / FILES).exists():
        shutil.copytree(compiled / "out", CONTRACTS / "out", dirs_exist_ok=True)
        (CONTRACTS / "cache").mkdir(exist_ok=True)
        shutil.copyfile(compiled / FILES, CONTRACTS / "cache" / FILES)


def _compile_into(folder, forge):
    run(forge, "build", cwd=CONTRACTS)
    shutil.copytree(CONTRACTS / "out", folder / "out")
    shutil.copyfile(CONTRACTS / "cache" / FILES, folder / FILES)


def _run(forge, profile, arguments):
    command = [str(forge), "test", "--json", *arguments]
    environment = {**os.environ, **MORE, "FOUNDRY_PROFILE": profile}
    done = subprocess.run(command, cwd=CONTRACTS, env=environment, capture_output=True, text=True, check=False)
    # The compiler prints messages before the JSON.
    answers = [line for line in done.stdout.splitlines() if line.startswith('{"test/')]
    assert answers, done.stdout + done.stderr
    suites = json.loads(answers[-1])
    return {f"{s}.{t}": result for s, suite in suites.items() for t, result in suite["test_results"].items()}


def _compare_gas(results, groups):
    """Compare the measured gas with contracts/snapshots, which forge does not do when it writes JSON."""
    measured = [snapshot for result in results.values() for snapshot in result["gas_snapshots"].items()]
    assert len(measured) == groups, "the calls, and the operations with or without the precompile"
    for group, gas in measured:
        assert gas == json.loads((CONTRACTS / "snapshots" / f"{group}.json").read_text()), (
            "docs/contracts.md says how to renew"
        )
