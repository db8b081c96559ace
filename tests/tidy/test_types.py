"""Few public functions have `Any` in their signature: values of any type are `object`, and JSON has types."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "holdfast"
MOST = 0.02  # of all public functions; lowered as types get better, never raised


def _functions(body):
    """Yield the public functions, and the public and special methods of public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _functions(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not re.match("_(?!_)", node.name):
            yield node


def _has_any(function):
    given = [node.annotation for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    parts = [part for kind in [*given, function.returns] if kind is not None for part in ast.walk(kind)]
    return any(isinstance(part, ast.Name) and part.id == "Any" for part in parts)


def test_few_public_functions_have_any_in_their_signature():
    found = [
        (file.relative_to(SOURCE), function)
        for file in SOURCE.rglob("*.py")
        for function in _functions(ast.parse(file.read_text()).body)
    ]
    untyped = [f"{file}: {function.name}" for file, function in found if _has_any(function)]
    assert len(found) > 1000
    assert len(untyped) <= MOST * len(found), untyped


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x: Any) -> int: ...", [True]),
        ("class A:\n  def __init__(self, x: Any) -> None: ...", [True]),
        ("class A:\n  async def f(self, *, x: int) -> dict[str, Any]: ...", [True]),
        ("def f(x: object) -> None: y: Any = x", [False]),
        ("def _f(x: Any) -> Any: ...", []),
    ],
)
def test_such_a_function_would_be_found(source, expected):
    assert [_has_any(function) for function in _functions(ast.parse(source).body)] == expected
