"""All of the enclave's test vectors pass through the Python host."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import vector_files

CASES = vector_files.all_cases()


@pytest.mark.parametrize(("function", "case"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_vector(function: str, case: dict[str, Any]) -> None:
    vector_files.run(function, case)


def test_each_file_states_its_claim_and_its_source() -> None:
    import json

    for path in sorted(vector_files.VECTORS.rglob("*.json")):
        content = json.loads(path.read_text())
        if "function" in content:
            assert content["claim"]
            assert content["source"]
            assert content["cases"], path
