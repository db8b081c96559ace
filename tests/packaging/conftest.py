"""The packages, built once from a clean copy of the tracked files."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.support.clean_tree import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds: no build output, no cache."""
    copy = tmp_path_factory.mktemp("tree")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built straight from the tree."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, tree, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def dist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make build` makes: the source distribution, and the wheel built from that."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, tree, cwd=folder)
    return folder
