"""New passwords are judged by the rule in vectors/passwords/rule.json."""

import pytest
from tests.support.vector_files import vectors

from holdfast.client.vault.passwords import checked_password

RULE = vectors("passwords/rule")
REASONS = {"short": "is too short", "simple": "is too simple"}


@pytest.mark.parametrize("case", RULE["cases"], ids=lambda case: case["name"])
def test_the_python_client_judges_a_password(case):
    if not case["weakness"]:
        assert checked_password(case["password"]) == case["password"]
        return
    with pytest.raises(ValueError, match=REASONS[case["weakness"]]) as refused:
        checked_password(case["password"])
    assert case["password"] not in str(refused.value)
