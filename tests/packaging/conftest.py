"""Fixtures for the packages, which are built once from a clean copy of the tracked files."""

import os
import shutil
import sys

import pytest
from tests.support.clean_tree import PROJECT_URL, ROOT, run
from tests.support.made_once import made_once


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """The files of a fresh clone, without build output; each test worker has a copy, because builds write to it."""
    copy = tmp_path_factory.mktemp("tree")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def wheel(tree, tmp_path_factory):
    folder = made_once(tmp_path_factory, "wheel", lambda folder: _build(tree, folder, "--wheel"))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def source_archive(tree, tmp_path_factory):
    folder = made_once(tmp_path_factory, "sdist", lambda folder: _build(tree, folder, "--sdist"))
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="session")
def dist(tree, tmp_path_factory):
    """What `make build` produces: the source distribution, and the wheel built from it."""
    return made_once(tmp_path_factory, "dist", lambda folder: _build(tree, folder))


def _build(tree, folder, *more):
    env = {**os.environ, "HOLDFAST_PROJECT_URL": PROJECT_URL}
    run(sys.executable, "-m", "build", "--no-isolation", *more, "--outdir", folder, tree, cwd=folder, env=env)
