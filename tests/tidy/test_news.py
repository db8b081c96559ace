"""Every file in newsfragments/ has a name that towncrier accepts, because towncrier ignores files with other names."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_fragment_has_a_topic_and_a_type():
    towncrier = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    types = "|".join(row["directory"] for row in towncrier["type"])
    name = re.compile(rf"[a-z0-9-]+\.({types})(\.\d+)?\.md")
    fragments = [path.name for path in (ROOT / towncrier["directory"]).iterdir() if path.name != ".gitignore"]
    assert [fragment for fragment in fragments if not name.fullmatch(fragment)] == []


def test_the_changelog_has_the_line_below_which_news_are_inserted():
    assert "<!-- towncrier release notes start -->\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
