"""The vectors of content-addressed formats, and how they write a case's bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"


def cases(path: str) -> list[Any]:
    """Return the cases of `vectors/<path>.json` as parameters with their names."""
    content = json.loads((VECTORS / f"{path}.json").read_text())
    assert content["claim"]
    assert content["source"]
    return [pytest.param(case, id=case["name"]) for case in content["cases"]]


def octets(spelled: str | list[Any]) -> bytes:
    """Decode bytes from hex, or from a list of hex texts and [hex, times]."""
    if isinstance(spelled, str):
        return bytes.fromhex(spelled)
    return b"".join(
        bytes.fromhex(part) if isinstance(part, str) else bytes.fromhex(part[0]) * part[1] for part in spelled
    )
