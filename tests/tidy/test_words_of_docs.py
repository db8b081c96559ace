"""The documentation stays small enough for a stranger to read in an afternoon."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 50_000


def test_all_pages_together_have_at_most_fifty_thousand_words():
    """Words are counted as `wc -w` does. docs/reference is not counted: its tables are generated and looked up."""
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md")]
    pages += [ROOT / "ARCHITECTURE.md", ROOT / "SECURITY.md"]
    words = {page.relative_to(ROOT).as_posix(): len(page.read_text("utf-8").split()) for page in pages}
    longest = sorted(words, key=words.__getitem__)[-5:]
    assert sum(words.values()) <= MOST_WORDS, f"{sum(words.values())} words; the longest pages: {longest}"


def test_no_page_of_the_reference_is_written_by_hand():
    """Otherwise the limit could be met by moving pages: each one is a generated table or lists modules to document."""
    for page in (ROOT / "docs" / "reference").rglob("*.md"):
        text = page.read_text("utf-8")
        assert "<!-- table: " in text or "\n::: " in text, page.name
