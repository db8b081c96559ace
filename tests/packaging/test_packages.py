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
NEEDED = (
    "holdfast/py.typed",
    "holdfast/rules/data/reserved_identifiers.txt",
    "holdfast/service/mail/templates/code.html",
    "holdfast/service/mail/templates/code.txt",
    "holdfast/service/static/pay/confirm.html",
    "holdfast/service/static/pay/confirm.js",
    "holdfast/service/static/pay/manifest.json",
    "holdfast/service/static/pay/sw.js",
    "holdfast/chain/contracts/DIDRegistry.json",
    "holdfast/chain/contracts/VaultAccount.json",
    "holdfast/world/npm/package-lock.json",
)
MAN_PAGE = "holdfast_vault-0.2.0.data/data/share/man/man1/holdfast.1"
# The build of the JavaScript client, which git ignores; a checkout serves it from build/client.
CLIENT = {
    f"holdfast/service/static/client/{name}"
    for name in (
        "holdfast.js",
        "worker.js",
        "enclave-host.js",
        "connect.js",
        "did-resolver.js",
        "pay/confirm.js",
        "snapshots/main.js",
        "pairing/pairing.js",
        "pairing/libp2p.js",
        "pages/main.js",
        "pages/connect.js",
        "pages/move.js",
        "admin/main.js",
        "THIRD_PARTY.txt",
    )
}


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
    assert set(NEEDED) <= found


def test_the_enclave_in_the_wheel_is_the_one_in_use_here(wheel):
    built = (ROOT / "src/holdfast/enclave/enclave.wasm").read_bytes()
    assert contents(wheel)[ENCLAVE] == hashlib.sha256(built).hexdigest()
    assert built.startswith(b"\0asm")


def test_the_metadata_says_what_is_needed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("holdfast_vault-0.2.0.dist-info/METADATA").decode()
        entries = archive.read("holdfast_vault-0.2.0.dist-info/entry_points.txt").decode()
        licence = archive.read("holdfast_vault-0.2.0.dist-info/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: Apache-2.0\nLicense-File: LICENSE\n" in metadata
    assert "Requires-Dist: granian" in metadata
    assert f"Project-URL: Repository, {PROJECT_URL}\n" in metadata
    assert f"Project-URL: Issues, {PROJECT_URL}/issues\n" in metadata
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
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "browser/build.py",
        "browser/package-lock.json",
        "browser/src/holdfast.ts",
        "enclave/build.py",
        "tools/hatch_build.py",
        "requirements/build.lock",
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        ".github/renovate.json",
        "ARCHITECTURE.md",
        "Makefile",
        "mkdocs.yml",
        "contracts/src/AppFactory.sol",
        "interface/routes.json",
        "packaging/client/pyproject.toml",
        "tests/packaging/test_packages.py",
        "vectors/flows/pay.json",
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


@pytest.fixture
def server(installed, tmp_path):
    port, data = free_port(), tmp_path / "data"
    environment = {name: value for name, value in environment_of(data).items() if name != "PYTHONPATH"}
    command = [installed / "bin" / "holdfast", "serve", "--port", str(port)]
    running = launched(command, environment, port, data, tmp_path / "log", cwd=tmp_path)
    yield running
    running.kill_all()


def test_the_installed_wheel_serves(installed, wheel, server, tmp_path):
    where = run(installed / "bin" / "python", "-c", "import holdfast; print(holdfast.__file__)", cwd=tmp_path)
    assert where.startswith(os.fspath(installed))
    wait_until_ready(server)
    with server.client() as client:
        assert client.get("/healthz").json() == {"ok": True}
        module = client.get("/enclave.wasm").content
        assert hashlib.sha256(module).hexdigest() == contents(wheel)[ENCLAVE]
        assert client.get("/pay/confirm").status_code == 200
        served = {
            f"holdfast/service/static{path}": client.get(path) for path in ("/client/holdfast.js", "/client/worker.js")
        }
        assert {
            name: hashlib.sha256(answer.content).hexdigest() for name, answer in served.items()
        }.items() <= contents(wheel).items()
        assert server.session(client, "postmaster", "192.0.2.1").status_code == 409
        assert server.session(client, "ann", "192.0.2.1").status_code == 200
    assert server.stop() == 0
