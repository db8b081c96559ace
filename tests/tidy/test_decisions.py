"""docs/decisions/index.md lists exactly the existing decision pages, and every number that is cited has a page."""

import re
from pathlib import Path

from tests.support.clean_tree import files_of

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions"
ENTRY = re.compile(r"^- \[(.+)\]\(((\d{4})-\S+)\)$", re.MULTILINE)
CITED = re.compile(r"(?:\bdecisions?/|\b[Dd]ecisions?\s+)(\d{4})\b")

FOLDERS = ("src", "docs", "enclave", "browser", "contracts/src", "packaging", "tools", "bench", "tests")
SUFFIXES = {".py", ".js", ".mjs", ".ts", ".zig", ".c", ".sql", ".sol", ".md", ".toml"}


def _files():
    pages = [ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md")]
    return pages + [path for path in files_of(*FOLDERS) if path.suffix in SUFFIXES]


def _entries():
    return ENTRY.findall((DECISIONS / "index.md").read_text("utf-8"))


def test_the_index_lists_every_page_once_with_its_title_and_nothing_else():
    pages = sorted(path for path in DECISIONS.glob("*.md") if path.name != "index.md")
    titles = [(page.read_text("utf-8").splitlines()[0], page.name) for page in pages]
    assert [(f"# {title}", file) for title, file, _ in sorted(_entries(), key=lambda entry: entry[1])] == titles
    numbers = [number for _, _, number in _entries()]
    assert len(numbers) == len(set(numbers))


def test_every_number_that_is_cited_has_a_page():
    numbers = {number for _, _, number in _entries()}
    cited = [
        (str(path.relative_to(ROOT)), number) for path in _files() for number in CITED.findall(path.read_text("utf-8"))
    ]
    assert cited
    assert [(file, number) for file, number in cited if number not in numbers] == []
