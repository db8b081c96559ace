"""The table of attacks in docs/contracts.md names tests that exist."""

import re

from tests.support.clean_tree import ROOT

ROLES = (
    "stolen spender",
    "stolen guardian",
    "malicious relayer",
    "replay",
    "front-running",
    "griefed recovery",
    "bundler's rules (ERC-7562)",
    "two at once",
    "owners with code",
    "anyone",
)


def rows():
    page = (ROOT / "docs" / "contracts.md").read_text()
    section = page.partition("\n## Attacks\n")[2].partition("\n## ")[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return found[2:]


def test_every_role_has_attacks_and_every_attack_has_tests_that_exist():
    assert tuple(role for role, _, _ in rows() if role) == ROLES
    for _, attack, tests in rows():
        named = re.findall(r"`([^`]+)`", tests)
        assert named, attack
        for name in named:
            file, _, function = name.rpartition(".")
            assert any(f"function {function}(" in text for text in _files(file or "Attacks")), name


def _files(name):
    return [file.read_text() for file in (ROOT / "contracts" / "test").rglob(f"{name}*.sol")]
