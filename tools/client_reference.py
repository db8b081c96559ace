"""Writes docs/client-reference.md, which lists all public names of the client, from the docstrings."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/holdfast/client"
PAGE = ROOT / "docs/client-reference.md"
_HEAD = "# Client reference\n\nWritten from the docstrings by `tools/client_reference.py`; not by hand.\n"


def reference() -> str:
    """Return the page's text."""
    sections = [_section(file) for file in sorted(SOURCE.rglob("*.py"))]
    return _HEAD + "".join(section for section in sections if section)


def _section(file: Path) -> str:
    tree = ast.parse(file.read_text())
    rows = [row for node in tree.body for row in _rows(node)]
    if not rows:
        return ""
    name = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    return f"\n## {name}\n\n{ast.get_docstring(tree) or ''}\n\n" + "".join(rows)


def _rows(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
        return [_row(node, "")]
    if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
        members = [item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
        shown = [item for item in members if not item.name.startswith("_")]
        first = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
        return [f"- **`{node.name}`**: {first}\n", *(_row(item, "  ") for item in shown)]
    return []


def _row(node: ast.FunctionDef | ast.AsyncFunctionDef, indent: str) -> str:
    awaited = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    first = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
    return f"{indent}- `{awaited}{node.name}({_parameters(node)})`: {first}\n"


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    named = [argument.arg for argument in node.args.args if argument.arg != "self"]
    keywords = [argument.arg for argument in node.args.kwonlyargs]
    rest = [f"**{node.args.kwarg.arg}"] if node.args.kwarg else []
    return ", ".join([*named, *(["*", *keywords] if keywords else []), *rest])


def main() -> int:
    """Write the page; with --check, exit 1 if it is out of date."""
    if "--check" in sys.argv:
        return 0 if PAGE.read_text() == reference() else 1
    PAGE.write_text(reference())
    return 0


if __name__ == "__main__":
    sys.exit(main())
