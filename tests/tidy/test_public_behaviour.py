"""Tests check public behaviour: few use or replace what begins with an underscore, and the number only falls."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MOST = 2  # of all tests together; lowered whenever some go, never raised
# What a file contains that may use something private; parsing all files takes seconds.
SUSPECT = re.compile(r"\._[a-z]|setattr\(")
# Documented names that begin with an underscore: of `os`, `atexit` and named tuples.
PUBLIC = {"_exit", "_run_exitfuncs", "_replace", "_fields", "_asdict"}


def is_private(name):
    """Return whether a name begins with one underscore and is not documented."""
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def private_uses(tree):
    """Yield the private attributes that a test reads or sets, and those that it replaces by name.

    What the test's own classes define is theirs to use.
    """
    own = {name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for name in _defined(node)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and is_private(node.attr)
            and node.attr not in own
            and not _is_own(node.value)
        ):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            given = [it.value for it in node.args[:2] if isinstance(it, ast.Constant) and isinstance(it.value, str)]
            yield from (name for name in given if any(is_private(part) for part in name.split(".")))


def _defined(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner.name
        elif isinstance(inner, ast.Attribute) and _is_own(inner.value):
            yield inner.attr


def _is_own(node):
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def test_few_tests_use_what_is_private():
    files = sorted(TESTS.rglob("*.py"))
    texts = [(file.relative_to(TESTS), text) for file in files if SUSPECT.search(text := file.read_text())]
    found = [f"{file}: {use}" for file, text in texts for use in private_uses(ast.parse(text))]
    assert len(files) > 300
    assert len(found) <= MOST, "\n".join(found)
