"""Which packages may import which others, as far as the contracts in pyproject.toml, a check, cannot express it."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "holdfast"


def _rooms_that(room, *, meets):
    """Return the files of a package that import another package, at run time or only for type checkers."""
    return [f"{file}: {name}" for file, name in _imports(room) if f"{name}.".startswith(f"holdfast.{meets}.")]


@functools.cache
def _imports(room):
    """Return each import of a package, with the name of the file."""
    found = []
    for file in sorted((SOURCES / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(file.name, name) for name in names]
    return found


# The modules of `rules` on which client and service must agree: canonical handles and the table of chains.
SHARED_RULES = ("holdfast.rules.chains.", "holdfast.rules.identifiers.")


def test_the_client_shares_with_the_service_only_wire_chain_enclave_and_two_rules():
    for other in ("service", "indexer", "world", "cli"):
        assert _rooms_that("client", meets=other) == []
    rules = [found.partition(": ")[2] for found in _rooms_that("client", meets="rules")]
    assert {next((shared for shared in SHARED_RULES if name.startswith(shared)), name) for name in rules} == set(
        SHARED_RULES
    )
    assert _rooms_that("service", meets="client") == []


def test_wire_imports_nothing_of_ours_not_even_for_types():
    for other in sorted(path.name for path in SOURCES.iterdir() if path.is_dir() and path.name != "wire"):
        assert _rooms_that("wire", meets=other) == []
    assert _rooms_that("rules", meets="wire")  # proves that the finder finds imports
