"""Reads the files in vectors/, whose form vectors/README.md describes, and runs single cases in the Python host."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.enclave import Enclave, PluginCallError

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def vectors(name: str) -> Any:
    """Return the content of a file, such as accounts/calls."""
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"))


def all_cases() -> list[tuple[str, str, dict[str, Any]]]:
    """Return (identifier, default function, case) for every case in every file."""
    found = []
    for path in sorted(VECTORS.rglob("*.json")):
        content = json.loads(path.read_text())
        if "function" not in content:  # the vectors of other packages have other forms
            continue
        where = path.relative_to(VECTORS).with_suffix("").as_posix()
        found += [(f"{where}: {case['name']}", content["function"], case) for case in content["cases"]]
    return found


def run(function: str, case: dict[str, Any]) -> None:
    """Run one case. Raises AssertionError if the response is not the expected one."""
    host = _Host(case)
    instances: dict[str, Enclave] = {}
    kept: dict[str, Any] = {}
    try:
        for step in case.get("steps", [case]):
            host.now_ms = step.get("now_ms", host.now_ms)
            if "random" in step and step is not case:
                host.random = bytes.fromhex(step["random"])
            on = step.get("on", "a")
            if on not in instances:
                instances[on] = host.instance()
            _check(instances[on], step.get("function", function), step, kept)
    finally:
        for enclave in instances.values():
            enclave.close()


class _Host:
    def __init__(self, case: dict[str, Any]) -> None:
        self.now_ms: int | None = case.get("now_ms")
        self.random = bytes.fromhex(case["random"]) if "random" in case else None

    def instance(self) -> Enclave:
        options: dict[str, Any] = {"random": self._take}
        if self.now_ms is not None:
            options["now"] = lambda: (self.now_ms or 0) / 1000
        return Enclave(**options)

    def _take(self, count: int) -> bytes:
        if self.random is None:
            return os.urandom(count)
        if count > len(self.random):
            raise RuntimeError("out of randomness")
        taken, self.random = self.random[:count], self.random[count:]
        return taken


def _check(enclave: Enclave, function: str, step: dict[str, Any], kept: dict[str, Any]) -> None:
    if "raw" in step:
        answer = json.loads(enclave.call_raw(function, step["raw"].encode()))
        assert answer["error"]["code"] == step["error"]
        return
    given = _filled(step.get("input", {}), kept)
    if "error" in step:
        with pytest.raises(PluginCallError) as refused:
            enclave.call(function, **given)
        assert refused.value.code == step["error"], str(refused.value)
        return
    answer = enclave.call(function, **given)
    if "output" in step:
        assert answer == step["output"]
    if "contains" in step:
        _matches(step["contains"], answer)
    for into, field in step.get("keep", {}).items():
        kept[into] = answer[field]


def _matches(expected: Any, actual: Any) -> None:
    if not isinstance(expected, dict):
        assert actual == expected
        return
    for name, value in expected.items():
        _matches(value, actual.get(name))


def _filled(value: Any, kept: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("$"):
        return kept.get(value[1:], value)
    if isinstance(value, list):
        return [_filled(item, kept) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, kept) for name, item in value.items()}
    return value
