"""`make release`: what it writes, that each artifact has the licence, and that a foreign library reads the bill."""

import hashlib
import json
import re
import sys
import tarfile
import tomllib
import zipfile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from tests.support.clean_tree import ROOT, run
from tests.support.made_once import made_once

pytestmark = pytest.mark.soak  # builds every artifact; test_packages.py builds the wheel in the gate
LICENCE = (ROOT / "LICENSE").read_bytes()
NOTICES = (ROOT / "src/holdfast/THIRD_PARTY.txt").read_bytes()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
NAMED = f"holdfast-vault-{VERSION}"
WHEELS = {f"holdfast_vault-{VERSION}-py3-none-any.whl", f"holdfast_vault_client-{VERSION}-py3-none-any.whl"}
ARCHIVES = {f"holdfast_vault-{VERSION}.tar.gz", f"{NAMED}.tgz", f"{NAMED}-image.tar.gz"}


@pytest.fixture(scope="module")
def released(tree, tmp_path_factory):
    def build(folder):
        run("git", "init", "-q", cwd=tree)
        run("git", "add", "-A", cwd=tree)
        run(sys.executable, "tools/release.py", "release", cwd=tree)
        for file in (tree / "dist").iterdir():
            file.rename(folder / file.name)

    return made_once(tmp_path_factory, "release", build)


def test_a_release_has_all_artifacts_and_their_checksums(released):
    sums = dict(line.split("  ")[::-1] for line in (released / "SHA256SUMS").read_text().splitlines())
    files = [file for file in released.iterdir() if file.name != "SHA256SUMS"]
    assert sums == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert set(sums) == {*WHEELS, *ARCHIVES, f"{NAMED}.cdx.json", "THIRD_PARTY.txt", "holdfast-exit.html"}


def test_every_artifact_has_the_licence_and_notices_and_no_build_output(released):
    for name in WHEELS:
        with zipfile.ZipFile(released / name) as wheel:
            assert wheel.read("holdfast/THIRD_PARTY.txt") == NOTICES
            [licence] = [file for file in wheel.namelist() if file.endswith(".dist-info/licenses/LICENSE")]
            assert wheel.read(licence) == LICENCE
    for name in ARCHIVES:
        with tarfile.open(released / name) as archive:
            files = archive.getnames()
            licences = [file for file in files if re.fullmatch(r"[^/]+/LICENSE", file)]
            assert archive.extractfile(licences[0]).read() == LICENCE, name
        assert [file for file in files if file.endswith("/THIRD_PARTY.txt")], name
        assert not [file for file in files if file.endswith((".env", ".db")) or "node_modules" in file], name


def test_the_image_can_be_built_from_its_context(released):
    with tarfile.open(released / f"{NAMED}-image.tar.gz") as archive:
        names = {name.removeprefix(f"{NAMED}/") for name in archive.getnames()}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for source in (word.strip("/") for line in copied for word in line.split()):
        assert any(name == source or name.startswith(f"{source}/") for name in names), source


def test_a_foreign_library_reads_the_bill_of_materials(released):
    text = (released / f"{NAMED}.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    named = {(one["name"], one["version"]) for one in bill["components"]}
    locked = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements/run.lock").read_text("utf-8"), re.MULTILINE)
    assert len(locked) > 40 and set(locked) <= named
    others = {"libp2p", "openzeppelin-contracts", "zig", "entry-point", "SQLite", "Argon2", "RIPEMD-160"}
    assert others <= {name for name, _ in named}
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/holdfast-vault@{VERSION}"
