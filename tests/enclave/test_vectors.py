"""All of the enclave's test vectors pass through the Python host."""

import pytest
from tests.support import vector_files

CASES = vector_files.all_cases()


@pytest.mark.parametrize(("function", "case"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_vector(function, case):
    vector_files.run(function, case)


def test_each_file_states_its_claim_and_its_source():
    import json

    for path in sorted(vector_files.VECTORS.rglob("*.json")):
        content = json.loads(path.read_text())
        if "function" in content:
            assert content["claim"]
            assert content["source"]
            assert content["cases"], path
