"""What the worker does if the removal of a key cannot be recorded in the vault."""

from __future__ import annotations

import pytest
from tests.support.javascript import run_module

CODE = """
  const { noteRemoval } = await import("SOURCES/vault/carrying.js");
  try {
    noteRemoval(() => given, "remove_wrap", { kind: "password", id: "password" });
  } catch ({ name, functionName, code }) {
    return [name, functionName, code];
  }
  return null;
"""


@pytest.mark.parametrize("error", ["conflict: tokens", "not_found: tokens"])
def test_a_record_in_the_intended_state_is_no_failure(error: str) -> None:
    assert run_module(CODE, {"success": False, "error": error}) is None


def test_a_removal_that_cannot_be_recorded_is_reported() -> None:
    failed = {"success": False, "error": "database_failure"}
    assert run_module(CODE, failed) == ["PluginCallError", "exec", "database_failure"]
