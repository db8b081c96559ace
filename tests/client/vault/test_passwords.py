"""Both clients judge new passwords by the rule in vectors/passwords/rule.json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.javascript import run_module
from tests.support.vector_files import VECTORS

from holdfast.client.vault.passwords import WORDS, checked_password

RULE: dict[str, Any] = json.loads((VECTORS / "passwords" / "rule.json").read_text())
REASONS = {"short": "is too short", "simple": "is too simple"}
JUDGE = """
  const {WORDS, weakness} = await import("SOURCES/pages/parts/password_rule.js");
  return [WORDS, given.map(weakness)];
"""


@pytest.mark.parametrize("case", RULE["cases"], ids=lambda case: case["name"])
def test_the_python_client_judges_a_password(case: dict[str, str]) -> None:
    if not case["weakness"]:
        assert checked_password(case["password"]) == case["password"]
        return
    with pytest.raises(ValueError, match=REASONS[case["weakness"]]) as refused:
        checked_password(case["password"])
    assert case["password"] not in str(refused.value)


def test_the_pages_judge_the_same_passwords_alike() -> None:
    words, judged = run_module(JUDGE, [case["password"] for case in RULE["cases"]])
    assert judged == [case["weakness"] for case in RULE["cases"]]
    assert words == list(WORDS) == RULE["words"]
