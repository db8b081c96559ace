"""Collects the licence texts of the npm packages that a bundle contains, because their licences ask for a copy."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "THIRD_PARTY.txt"
_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/(?!.*node_modules/)")
_TEXTS = re.compile(r"(?:licen[cs]e|copying|notice)", re.IGNORECASE)
_HEAD = (
    "Some of these files contain code of the npm packages below. The licence of each follows its name.\n"
    "Holdfast's own licence is in LICENSE.\n"
)
_RULE = "=" * 80


def packages_in(inputs: Iterable[str]) -> set[str]:
    """Return the folders, from `node_modules/` on, of the packages to which these inputs of a bundle belong."""
    found = set()
    for name in inputs:
        if match := _PACKAGE.search(name):
            found.add(name[: match.end() - 1])
    return found


def notices(modules: Path, packages: Iterable[str]) -> str:
    """Return the text about these packages, each a folder from `node_modules/` on, in the order of their names."""
    each = {
        described(modules, folder)[:2]: folder for folder in packages
    }  # several copies of a version are one package
    return "\n".join([_HEAD, *(_about(modules, folder) for _, folder in sorted(each.items()))])


def described(modules: Path, folder: str) -> tuple[str, str, str]:
    """Return a package's name, version and licence, as its package.json states them."""
    stated = json.loads((_place(modules, folder) / "package.json").read_text("utf-8"))
    return stated["name"], stated["version"], str(stated.get("license", "unknown"))


def _about(modules: Path, folder: str) -> str:
    name, version, licence = described(modules, folder)
    files = [file for file in sorted(_place(modules, folder).iterdir()) if file.is_file() and _TEXTS.match(file.name)]
    texts = [file.read_text("utf-8", "replace").strip() for file in files]
    return "\n\n".join([f"{_RULE}\n{name} {version}: {licence}", *texts]) + "\n"


def _place(modules: Path, folder: str) -> Path:
    return modules / folder.removeprefix("node_modules/")
