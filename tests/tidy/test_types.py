"""Values of any type are `object` in Python and `unknown` in TypeScript, and JSON has types.

Few public functions in Python have `Any` in their signature, and nothing in the JavaScript client is declared as `any`.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "holdfast"
BROWSER = ROOT / "browser" / "src"
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


# A comment or text, and the word where no member or key is named so.
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`", re.DOTALL)
_ANY = re.compile(r"(?<![\w$.])any(?!\w|\s*:)")


def _declares_any(source):
    return _ANY.search(_NO_CODE.sub("", source)) is not None


def test_nothing_in_the_javascript_client_is_declared_as_any():
    files = sorted(BROWSER.rglob("*.ts"))
    assert len(files) > 200
    assert [str(file.relative_to(BROWSER)) for file in files if _declares_any(file.read_text("utf-8"))] == []
