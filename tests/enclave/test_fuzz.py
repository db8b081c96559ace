"""In a short run of tools/fuzz_enclave.py, no input makes the module trap, hang, return nonsense or leak memory."""

import os
import sys

import pytest
from tests.support.programs import ROOT, program
from tests.support.soak import amount

from holdfast.enclave import PluginCallError

CALLS = amount(500, 30000, "HOLDFAST_FUZZ_CALLS")
SEED = int(os.environ.get("HOLDFAST_FUZZ_SEED", "20261121"))


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))  # so that it can import its neighbour
    return program("tools/fuzz_enclave.py")


@pytest.mark.timeout(600)
def test_no_input_breaks_the_module(tool):
    fuzzer = tool.Fuzzer(SEED)
    report = fuzzer.run(CALLS)
    fuzzer.close()
    assert [finding.to_json() for finding in report.findings] == []
    assert report.calls == CALLS
    assert set(report.answered) == set(fuzzer.functions), "a function was never called"
    assert report.codes["ok"] > CALLS // 5, "the inputs are too broken to reach anything"
    refused = [name for name in fuzzer.functions if not report.accepted[name]]
    assert CALLS < 10_000 or refused == [], "functions that only ever refused: nothing behind their checks was reached"


def trap(_self, function, _arguments):
    raise PluginCallError(function, "stopped")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (trap, "trap"),
        (lambda *_: b"{", "malformed answer"),
        (lambda *_: b"[]", "malformed answer"),
        (lambda *_: b'{"error":{"code":"odd"}}', "unknown code"),
    ],
)
def test_a_trap_or_nonsense_is_a_finding(tool, monkeypatch, call, kind):
    fuzzer = tool.Fuzzer(1)
    whole = tool.Enclave.call_raw

    def once(*given):
        monkeypatch.setattr(tool.Enclave, "call_raw", whole)  # the instance that takes a trapped one's place works
        return call(*given)

    monkeypatch.setattr(tool.Enclave, "call_raw", once)
    assert [finding.kind for finding in fuzzer.run(1).findings] == [kind]


def test_memory_stops_growing(tool):
    enclave = tool.Enclave()
    calls = [
        (function, tool.json.dumps(given).encode())
        for function, inputs in tool.corpus().items()
        for given in inputs
        if function not in {"export", "import"}  # these hash a password each; their own tests check their memory
    ]
    sizes = []
    for _ in range(3):
        for function, arguments in calls:
            enclave.call_raw(function, arguments)
        sizes.append(tool.memory_size(enclave))
    enclave.close()
    assert sizes[2] == sizes[1]
