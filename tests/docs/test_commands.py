"""Each `holdfast …` command line that a page shows exists, with its options."""

import re
from pathlib import Path

from holdfast.cli.root import COMMANDS, command_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md"))]
# A command stands at the beginning of a line or of code, after a prompt, or after a program that runs it.
LINE = re.compile(
    r"(?:`|^|[$#] |run |holdfast |bin/|&& |\()holdfast ((?!holdfast)[a-z][a-z-]*(?: [^`\n;|&)#]*)?)", re.MULTILINE
)


def shown():
    """Return each command line with its page, as words; not those of other programs, such as `docker run holdfast`."""
    found = [(page.name, line.split()) for page in PAGES for line in LINE.findall(page.read_text("utf-8"))]
    return [(page, words) for page, words in found if words[0] in COMMANDS]


def mistake(words):
    """Return the subcommand or option that does not exist; None if all exist."""
    node = command_of(words[0])
    for word in words[1:]:
        group = getattr(node, "commands", None)
        if group is not None and re.fullmatch(r"[a-z][a-z-]+", word):
            if word not in group:
                return word
            node = group[word]
        elif group is None and word.startswith("--"):
            known = {name for parameter in node.params for name in (*parameter.opts, *parameter.secondary_opts)}
            if re.match(r"[a-z0-9-]*", word)[0] not in known | {"--help"}:
                return word
    return None


def test_every_command_of_the_pages_can_be_called():
    lines = shown()
    assert len(lines) > 100
    assert [(page, words) for page, words in lines if mistake(words)] == []
