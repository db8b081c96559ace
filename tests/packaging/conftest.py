"""The packages, built once from a clean copy of the tracked files."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.support.clean_tree import ROOT, run
from tests.support.made_once import made_once


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds: no build output, no cache. A build writes into it, so each worker has one."""
    copy = tmp_path_factory.mktemp("tree")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built straight from the tree."""
    folder = made_once(tmp_path_factory, "wheel", lambda folder: _build(tree, folder, "--wheel"))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def dist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make build` makes: the source distribution, and the wheel built from that."""
    return made_once(tmp_path_factory, "dist", lambda folder: _build(tree, folder))


def _build(tree: Path, folder: Path, *more: str) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", *more, "--outdir", folder, tree, cwd=folder)
