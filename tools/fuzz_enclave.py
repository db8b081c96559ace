"""Sends structured and random input to every function of the enclave: `python tools/fuzz_enclave.py --calls 1000000`.

Inputs are mutated test vectors, responses from the enclave, and inputs for states that honest calls have produced
(tools/fuzz_states.py). Mutations replace values, drop fields, flip, cut or splice bytes of binary fields, or damage the
JSON text. Findings are traps, calls that exceed the time limit, responses that are not JSON objects or have an unknown
error code, and memory that keeps growing. Each finding is written to a file, from which a test vector can be made. The
seed determines every call, the enclave's random bytes and its clock: a run with the same seed makes the same calls.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_inputs import HOST_KEY, ROOT, bend, chance, corpus, damage
from fuzz_states import CLOSED, States
from holdfast.enclave import Enclave, PluginCallError

SLOW_SECONDS = 10.0  # of CPU time: far more than the slowest honest call takes, however busy the machine is
FRESH_EVERY = 2000  # calls after which a new instance is started, so that one run covers many states
GROWTH_ALLOWED = 96 << 20  # bytes by which an instance's memory may grow in the second half of its life: one Argon2id
BATCH = 10_000  # calls between two lines of progress
SHOWN = 20  # findings printed on the terminal
FIRST_CALLS = 5  # of each function, whatever its weight
# How often a function is called, compared with the others. Hashing a password takes a hundred times as long as other
# calls; some functions do so themselves, and after others the vault is closed and the next call has to open it.
WEIGHTS = {"add_wrap": 0.125, "export": 0.125, "lock": 0.25, **dict.fromkeys(CLOSED, 0.5)}
REFUSING_TIMES = 4.0  # as often while a function has refused every call: the code behind its checks was not reached
START_S = 1_763_000_000.0  # Unix time at which the enclave's clock starts
CALL_S = 0.25  # by which each call advances that clock, so that idle times and expiry dates pass


@dataclass
class Finding:
    """A finding: what went wrong, and the input that caused it."""

    kind: str
    function: str
    arguments: bytes
    detail: str

    def to_json(self) -> dict[str, str]:
        """Return the finding as a JSON object."""
        encoded = base64.b64encode(self.arguments).decode()
        return {"kind": self.kind, "function": self.function, "arguments": encoded, "detail": self.detail}


@dataclass
class Report:
    """The outcome of a run."""

    calls: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    """Calls per function."""
    accepted: Counter[str] = field(default_factory=Counter)
    """Calls per function that did what it is for."""
    codes: Counter[str] = field(default_factory=Counter)
    """Error codes met; `ok` for answers."""


class Fuzzer:
    """One seeded run. `run(calls)` may be called repeatedly.

    Args:
        seed: decides what is tried (see the module's docstring).
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.report = Report()
        self._known_codes = known_codes()
        self._corpus = corpus()
        self._words: list[Any] = ["a", "1"]
        self._states = States(self.random, self._new_enclave(), self._credential())
        self._enclave, self._age, self._size = self._fresh(), 0, 0
        self.functions: list[str] = self._enclave.call("version")["functions"]

    def run(self, calls: int) -> Report:
        """Make the given number of calls, and return a report on the whole run so far."""
        started = time.monotonic()
        for _ in range(calls):
            function = self._choose()
            try:
                arguments = self._arguments(function)
            except PluginCallError as error:
                self._found("trap", error.function_name, b"", f"an honest call before {function}: {error}")
                self._restart()
                continue
            self._call(function, arguments)
        self.report.seconds += time.monotonic() - started
        return self.report

    def close(self) -> None:
        """Close the fuzzed instance and the partner instance for pairings."""
        self._enclave.close()
        self._states.close()

    def _credential(self) -> object:
        made = self._corpus.get("generate") or self._corpus["parse_webauthn"]
        return made[0].get("credential")

    def _fresh(self) -> Enclave:
        """Return a new instance, which has an open vault in three out of four cases."""
        enclave = self._new_enclave()
        if chance(self.random, 75):
            made = {"credential": self._credential(), "key": HOST_KEY}
            enclave.call_raw("generate", json.dumps(made).encode())
        return enclave

    def _new_enclave(self) -> Enclave:
        # No timer locks the vault, because it would do so between two arbitrary calls.
        return Enclave(random=self.random.randbytes, now=self._now, after=lambda _seconds, _work: lambda: None)

    def _now(self) -> float:
        return START_S + CALL_S * self.report.calls

    def _choose(self) -> str:
        rare = [name for name in self.functions if self.report.answered[name] < FIRST_CALLS]
        weights = [self._weight(name) for name in self.functions]
        return rare[0] if rare else self.random.choices(self.functions, weights)[0]

    def _weight(self, name: str) -> float:
        # Weights from measured times would make two runs with the same seed differ.
        return WEIGHTS.get(name, 1.0) * (1.0 if self.report.accepted[name] else REFUSING_TIMES)

    def _arguments(self, function: str) -> bytes:
        if chance(self.random, 2):
            return self.random.randbytes(self.random.randrange(64))
        if chance(self.random, 80):
            self._states.prepare(self._enclave, function)
        template = self._states.input(self._enclave, function) if chance(self.random, 40) else None
        template = template or self.random.choice(self._corpus.get(function) or [{}])
        if chance(self.random, 15):
            other = self.random.choice(list(self._corpus))
            template = {**template, **self.random.choice(self._corpus[other])}
        bent = bend(self.random, template, self._words)
        text = json.dumps(bent).encode()
        return damage(self.random, text) if chance(self.random, 5) else text

    def _call(self, function: str, arguments: bytes) -> None:
        self.report.calls += 1
        self.report.answered[function] += 1
        started = time.thread_time()
        try:
            answer = self._enclave.call_raw(function, arguments)
        except PluginCallError as error:
            self._found("trap", function, arguments, str(error))
            self._restart()
            return
        spent = time.thread_time() - started
        if spent > SLOW_SECONDS:
            self._found("slow", function, arguments, f"{spent:.1f} s")
        self._judge(function, arguments, answer)
        self._grow(function, arguments)

    def _judge(self, function: str, arguments: bytes, answer: bytes) -> None:
        try:
            parsed = json.loads(answer)
        except ValueError as error:
            self._found("malformed answer", function, arguments, str(error))
            return
        if not isinstance(parsed, dict):
            self._found("malformed answer", function, arguments, type(parsed).__name__)
            return
        refusal = parsed.get("error")
        code = refusal.get("code") if isinstance(refusal, dict) else str(refusal or "").split(":")[0]
        self.report.codes[code or "ok"] += 1
        self.report.accepted[function] += not code
        if code and code not in self._known_codes:
            self._found("unknown code", function, arguments, str(code))
        self._learn(parsed)

    def _learn(self, answer: dict[str, Any]) -> None:
        for value in answer.values():
            if isinstance(value, (str, int)) and chance(self.random, 20):
                self._words.append(value)
        del self._words[:-500]

    def _grow(self, function: str, arguments: bytes) -> None:
        self._age += 1
        if self._age == FRESH_EVERY // 2:
            self._size = memory_size(self._enclave)
        if self._age >= FRESH_EVERY:
            size = memory_size(self._enclave)
            if size > self._size + GROWTH_ALLOWED:
                self._found("memory growth", function, arguments, f"{self._size} to {size} bytes")
            self._restart()

    def _restart(self) -> None:
        self._enclave.close()
        self._enclave, self._age = self._fresh(), 0

    def _found(self, kind: str, function: str, arguments: bytes, detail: str) -> None:
        self.report.findings.append(Finding(kind, function, arguments, detail))


def memory_size(enclave: Enclave) -> int:
    """Return the size of the linear memory in bytes."""
    return enclave.instance.memory.data_len(enclave.instance.store)


def known_codes() -> set[str]:
    """Return the error codes that the enclave's errors.zig defines."""
    table = (ROOT / "enclave" / "src" / "platform" / "errors.zig").read_text()
    return set(re.findall(r'\.code = "([a-z_]+)"', table))


def main() -> int:
    """Run the fuzzer, and return 1 if there is a finding."""
    options = _options()
    fuzzer = Fuzzer(options.seed)
    left: int = options.calls
    saved = 0
    while left > 0:
        fuzzer.run(min(left, BATCH))
        left -= BATCH
        _print_progress(fuzzer.report)
        saved = _save(fuzzer.report, options.save, saved)
    fuzzer.close()
    counts = {name: dict(getattr(fuzzer.report, name).most_common()) for name in ("codes", "answered", "accepted")}
    print(json.dumps(counts))
    return 1 if fuzzer.report.findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--save", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    return parser.parse_args()


def _print_progress(report: Report) -> None:
    rate = report.calls / max(report.seconds, 0.001)
    print(f"{report.calls} calls, {rate:.0f}/s, {len(report.findings)} findings", flush=True)


def _save(report: Report, folder: Path, saved: int) -> int:
    """Write the findings after the first `saved` to files, and return the total number of findings."""
    for count, finding in enumerate(report.findings[saved:], saved):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{finding.function}-{count}.json").write_text(json.dumps(finding.to_json(), indent=1) + "\n")
        if count < SHOWN:
            print(f"{finding.kind}: {finding.function}: {finding.detail}", file=sys.stderr, flush=True)
    return len(report.findings)


if __name__ == "__main__":
    raise SystemExit(main())
