"""Words that the project does not use, and the plain word for each (docs/glossary.md)."""

import functools
import re
from pathlib import Path

import pytest
from tests.support.clean_tree import files_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "docs", "enclave", "contracts/src", "contracts/test", "browser", "tools", "bench", "newsfragments")
SUFFIXES = {".py", ".md", ".zig", ".sol", ".sql", ".js", ".mjs", ".ts", ".css", ".html", ".txt"}
OTHERS = {"reserved_identifiers.txt", "THIRD_PARTY.txt"}  # handles, and licences of others
PLAIN = {
    r"of (its|their) own(?! [a-z])|of (its|their) own (and|by|for|in|on|so|that|to|which|with)\b": "separate, other, unique",
    r"\b(no|some|every)body('s)?\b": "no one, another person, anyone",
    r"\bwho(m)?ever\b": "anyone who, the holder of",
    r"\bbesides?\b": "next to, in addition to",
    r"\bbears? with\b": "accepts",
    r"\bthere (is|are) none\b": "none exists, without one",
    r"(?<![Tt]here )\b(is|are) no (?!longer|more|such|less|use|try|way|need|other|doubt)": "is not a",
    r"\bholds? it to\b": "compares it with",
    r"; whether (it|any|one) (was|did)\b": "Returns whether",
    r"\bthe two roads\b": "both paths",
    r"\bTHE\b (?!SOFTWARE|HASHES)": "the",
    r"\bin earnest\b": "in production",
    r"\bis none of ours\b": "is another's",
    r"\blet go of\b": "close, release",
}


@functools.cache
def _texts():
    pages = [ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md")]
    found = [path for path in files_of(*FOLDERS) if path.suffix in SUFFIXES]
    ours = [path for path in pages + found if path.name not in OTHERS]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in ours}


@pytest.mark.parametrize("phrase", PLAIN)
def test_no_page_comment_or_message_uses_a_retired_phrase(phrase):
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in _texts().items()
        if re.search(phrase, text)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(phrase, line)
    ]
    assert not found, f"write instead: {PLAIN[phrase]}\n" + "\n".join(found)
