"""The vectors of content-addressed formats, and how a case's bytes are spelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"


def cases(path: str) -> list[Any]:
    """The cases of `vectors/<path>.json`, as parameters with their names."""
    content = json.loads((VECTORS / f"{path}.json").read_text())
    assert content["claim"]
    assert content["source"]
    return [pytest.param(case, id=case["name"]) for case in content["cases"]]


def octets(spelled: str | list[Any]) -> bytes:
    """Bytes in hex, or as a list of hex texts and [hex, times]."""
    if isinstance(spelled, str):
        return bytes.fromhex(spelled)
    return b"".join(
        bytes.fromhex(part) if isinstance(part, str) else bytes.fromhex(part[0]) * part[1] for part in spelled
    )
