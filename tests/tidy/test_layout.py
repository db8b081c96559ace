"""Each test file is in the folder that corresponds to its module, and shared code is in tests/support."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
# Folders of tests that do not belong to a single package, such as packaging, contracts, browser and faults.
ABOUT_NO_ONE_PACKAGE = {"bench", "browser", "contracts", "docs", "faults", "packaging", "peers", "simulation", "tidy"}


def _folders_with_tests():
    return sorted({file.parent.relative_to(TESTS) for file in TESTS.rglob("test_*.py")})


@pytest.mark.parametrize("folder", _folders_with_tests(), ids=str)
def test_each_folder_of_tests_is_a_package_of_the_source(folder):
    assert str(folder) in ABOUT_NO_ONE_PACKAGE or (ROOT / "src" / "holdfast" / folder).is_dir()


def test_no_suite_is_excepted_that_is_not_there():
    assert {folder for folder in ABOUT_NO_ONE_PACKAGE if not (TESTS / folder).is_dir()} == set()


def _imports(source):
    """Return the modules that a file imports; relative imports are returned without the leading dots."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return found


# A line that may import what is not to be imported, or what is shared; parsing all files takes seconds.
SUSPECT = re.compile(r"^\s*(from|import)\b.*(conftest|test_)", re.MULTILINE)


def _not_to_be_imported(module):
    return any(part == "conftest" or part.startswith("test_") for part in module.split(".")[:-1])


def test_nothing_is_imported_from_a_conftest_or_from_a_file_of_tests():
    """No test imports another test file, which pytest might load twice; shared code belongs in tests/support."""
    files = [file for folder in (TESTS, ROOT / "bench") for file in sorted(folder.rglob("*.py"))]
    texts = [(file, text) for file in files if SUSPECT.search(text := file.read_text("utf-8"))]
    ours = [(file, name) for file, text in texts for name in _imports(text)]
    wrong = [f"{file.relative_to(ROOT)}: {name}" for file, name in ours if _not_to_be_imported(name)]
    assert len(files) > 300 and wrong == []


def test_no_test_is_among_what_tests_share():
    assert list((TESTS / "support").rglob("test_*.py")) == []
