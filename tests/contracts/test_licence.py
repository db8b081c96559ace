"""All of the project's own files have the same licence, which is stated wherever that is required."""

import json
import tomllib

from tests.support.fresh_chain import CONTRACTS, ROOT

IDENTIFIER = "Apache-2.0"


def test_every_contract_and_every_test_of_one_says_it():
    sources = sorted(path for folder in ("src", "test") for path in (CONTRACTS / folder).rglob("*.sol"))
    assert len(sources) > 50
    first_lines = {path.read_text().splitlines()[0] for path in sources}
    assert first_lines == {f"// SPDX-License-Identifier: {IDENTIFIER}"}


def test_every_package_says_it():
    for folder in (ROOT, ROOT / "packaging" / "client"):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert (project["license"], project["license-files"]) == (IDENTIFIER, ["LICENSE"])
    for folder in (CONTRACTS, ROOT / "browser", ROOT / "src" / "holdfast" / "world" / "npm"):
        assert json.loads((folder / "package.json").read_text())["license"] == IDENTIFIER


def test_its_text_is_there_whole():
    text = (ROOT / "LICENSE").read_text()
    assert text.lstrip().startswith("Apache License\n")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert (ROOT / "packaging" / "client" / "LICENSE").read_text() == text
