"""No page or message sends anyone to a stranger's package, and all state the project's own names.

The names `holdfast` and others like it belong to strangers on the registries, and this project is not published there.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from holdfast import __version__
from holdfast.wire.installing import DISTRIBUTIONS, install_command

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md", "Dockerfile", "Makefile")),
    *(ROOT / "packaging").rglob("*.md"),
    *(ROOT / "browser").glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "deploy").rglob("*.*"),
    *(ROOT / "src").rglob("*.py"),
]
INSTALLED = re.compile(r"\b(?:pip|npm|uv pip|pipx|poetry|yarn|pnpm) (?:install|add|i) ([^`\n]+)")
# A file, what this machine has already, or locked requirements with their hashes.
LOCAL = re.compile(r"\.{0,2}/|\S*\.(?:whl|tgz)\b|dist/|-e \.|--no-index|--no-deps|--require-hashes")
STRANGERS = re.compile(
    r"\bholdfast\[|\bholdfast-client\b|@holdfast/|`holdfast/[\w/-]+\.js|\bholdfast==|pypi\.org|npmjs\.|pythonhosted"
)


def table(path):
    return tomllib.loads((ROOT / path).read_text("utf-8"))


PROJECT = table("pyproject.toml")["project"]


def test_all_artifacts_state_the_projects_name_and_version():
    client = table("packaging/client/pyproject.toml")["project"]
    npm = json.loads((ROOT / "browser/package.json").read_text("utf-8"))
    assert (PROJECT["name"], client["name"]) == DISTRIBUTIONS
    assert (npm["name"], npm["version"]) == (PROJECT["name"], PROJECT["version"])
    assert PROJECT["version"] == __version__
    image = (ROOT / "Dockerfile").read_text("utf-8")
    assert f'image.version="{__version__}"' in image and f'image.licenses="{PROJECT["license"]}"' in image
    assert PROJECT["scripts"] == client["scripts"] == {"holdfast": "holdfast.cli:main"}
    lock = json.loads((ROOT / "browser/package-lock.json").read_text("utf-8"))
    assert (lock["name"], lock["version"]) == (npm["name"], npm["version"])


def test_no_page_or_message_names_a_package_that_a_stranger_may_have():
    for page in PAGES:
        text = page.read_text("utf-8")
        assert STRANGERS.findall(text) == [], page
        for what in INSTALLED.findall(text):
            targets = what.strip().strip("\"'")
            assert LOCAL.search(targets) or page.name == "installing.py", f"{page.name}: installs {targets}"


@pytest.mark.parametrize("extra", sorted(PROJECT["optional-dependencies"]))
def test_an_extras_packages_are_named_one_by_one(extra):
    command = install_command(extra)
    named = [Requirement(part) for part in re.findall(r"'([^']+)'", command)]
    assert command.startswith("pip install '")
    expected = [Requirement(line) for line in PROJECT["optional-dependencies"][extra]]
    assert {(one.name, str(one.specifier)) for one in named} == {(one.name, str(one.specifier)) for one in expected}
