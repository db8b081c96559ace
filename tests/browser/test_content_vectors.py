"""The JavaScript client reads and writes CIDs, CAR files, snapshot roots, IPNS names and records as Python does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from holdfast.world.errors import NodeMissing
from holdfast.world.tools import OLDEST_NODE, find_node

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    *("car/valid", "car/invalid", "snapshots/valid", "snapshots/files", "snapshots/older", "snapshots/invalid"),
    *("ipns/invalid", "ipns/names", "ipns/names_invalid", "ipns/records", "ipns/tolerated"),
    *("dag_cbor/decode_valid_py_dag_cbor", "dag_cbor/decode_invalid"),
)


def _count(path: str) -> int:
    content = json.loads((ROOT / "vectors" / f"{path}.json").read_text())
    return len(content.get("records") or content["cases"])


def test_every_vector_gives_the_same_answer() -> None:
    try:
        node = find_node()
    except NodeMissing:
        pytest.skip(f"Node {OLDEST_NODE} or newer is missing: the JavaScript formats were not tested")
    command = [node, str(ROOT / "browser" / "test" / "run_content.js"), str(ROOT / "vectors")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = json.loads(ran.stdout.splitlines()[-1])
    assert summary == {"cases": sum(map(_count, FILES)), "tests": summary["tests"], "failed": 0}
    assert summary["tests"] >= 5
