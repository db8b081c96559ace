"""The wheel and the source distribution contain the right files, and the service runs from the installed wheel."""

import hashlib
import json
import os
import re
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.support.clean_tree import PROJECT_URL, ROOT, run
from tests.support.serving import environment_of, free_port, launched, wait_until_ready

ENCLAVE = "holdfast/enclave/enclave.wasm"
MAN_PAGE = "holdfast_vault-0.2.0.data/data/share/man/man1/holdfast.1"
# The build of the JavaScript client, which git ignores; a checkout serves it from build/client.
CLIENT = {
    f"holdfast/service/static/client/{name}"
    for name in (
        "holdfast.js", "worker.js", "enclave-host.js", "connect.js", "did-resolver.js", "pay/confirm.js",
        "snapshots/main.js", "pairing/pairing.js", "pairing/libp2p.js", "pages/main.js", "pages/connect.js",
        "pages/move.js", "admin/main.js", "THIRD_PARTY.txt",
    )
}  # fmt: skip


def contents(wheel):
    """Return each file's name and SHA-256 hash, except for RECORD, which contains the same information."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/RECORD")]
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in names}


# What several modules of the client need, or load on demand.
HASHED = re.compile(r"static/client/[\w.]+-[0-9A-Z]{8}\.js$")


def test_the_wheel_holds_every_tracked_file_of_the_package_and_the_enclave(wheel):
    found = {name for name in contents(wheel) if ".dist-info/" not in name}
    tracked = [name for name in run("git", "ls-files", "src", cwd=ROOT).splitlines() if (ROOT / name).is_file()]
    sources = {name.removeprefix("src/") for name in tracked}
    assert {name for name in found - sources if not HASHED.search(name)} == {*CLIENT, MAN_PAGE, ENCLAVE}
    assert sources <= found


def test_the_metadata_says_what_is_needed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("holdfast_vault-0.2.0.dist-info/METADATA").decode()
        entries = archive.read("holdfast_vault-0.2.0.dist-info/entry_points.txt").decode()
        licence = archive.read("holdfast_vault-0.2.0.dist-info/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: Apache-2.0\nLicense-File: LICENSE\n" in metadata
    assert f"Project-URL: Repository, {PROJECT_URL}\n" in metadata
    assert "holdfast = holdfast.cli:main" in entries


def test_licences_of_bundled_packages_are_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("holdfast/service/static/client/THIRD_PARTY.txt").decode()
    for package in ("libp2p", "@chainsafe/libp2p-noise", "@noble/curves", "uqr"):
        assert re.search(rf"^=+\n{package} \d", text, re.MULTILINE), package
    assert text.count("Permission is hereby granted, free of charge") > 10


@pytest.mark.soak  # builds once more what the gate builds
def test_the_wheel_from_the_source_distribution_is_the_same(wheel, dist):
    again = next(dist.glob("*.whl"))
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_the_source_distribution_holds_sources_only(source_archive):
    with tarfile.open(source_archive) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = {name for name in run("git", "ls-files", cwd=ROOT).splitlines() if (ROOT / name).is_file()}
    assert {name for name in tracked if name.startswith(("src/", "browser/src/", "tools/", "tests/"))} <= names
    assert {
        "pyproject.toml",
        "LICENSE",
        "enclave/build.py",
        "requirements/build.lock",
        "interface/routes.json",
    } <= names
    assert not [name for name in names if name.endswith((".wasm", ".pyc", ".db", ".env")) or "node_modules" in name]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A new environment in which the wheel is installed and the existing environment's dependencies can be imported."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    site = json.loads(run(python, "-c", "import json, site; print(json.dumps(site.getsitepackages()))", cwd=folder))[0]
    # A .pth file adds a folder without processing that folder's .pth files, so the checkout's own package stays hidden.
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("platlib") + "\n")
    return folder


def test_the_installed_wheel_serves(installed, wheel, tmp_path):
    where = run(installed / "bin" / "python", "-c", "import holdfast; print(holdfast.__file__)", cwd=tmp_path)
    assert where.startswith(os.fspath(installed))
    port, data, files = free_port(), tmp_path / "data", contents(wheel)
    environment = {name: value for name, value in environment_of(data).items() if name != "PYTHONPATH"}
    command = [installed / "bin" / "holdfast", "serve", "--port", str(port)]
    server = launched(command, environment, port, data, tmp_path / "log", cwd=tmp_path)
    try:
        wait_until_ready(server)
        with server.client() as client:
            assert hashlib.sha256(client.get("/enclave.wasm").content).hexdigest() == files[ENCLAVE]
            assert client.get("/pay/confirm").status_code == 200
            for name in ("holdfast.js", "worker.js"):
                served = hashlib.sha256(client.get(f"/client/{name}").content).hexdigest()
                assert served == files[f"holdfast/service/static/client/{name}"]
            assert server.session(client, "postmaster", "192.0.2.1").status_code == 409
            assert server.session(client, "ann", "192.0.2.1").status_code == 200
        assert server.stop() == 0
    finally:
        server.kill_all()
