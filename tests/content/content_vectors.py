"""Reads the test vectors for content-addressed formats."""

import json
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"


def cases(path):
    """Return the cases in `vectors/<path>.json` as pytest parameters that have the cases' names."""
    content = json.loads((VECTORS / f"{path}.json").read_text())
    assert content["claim"]
    assert content["source"]
    return [pytest.param(case, id=case["name"]) for case in content["cases"]]


def octets(spelled):
    """Decode bytes from a hex string, or from a list of hex strings and pairs [hex, repetitions]."""
    if isinstance(spelled, str):
        return bytes.fromhex(spelled)
    return b"".join(
        bytes.fromhex(part) if isinstance(part, str) else bytes.fromhex(part[0]) * part[1] for part in spelled
    )
