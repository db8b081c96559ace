"""The package's public names and types, a fast import, and independence from the service's packages."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast

ROOT = Path(__file__).parents[2]
SERVICE_ONLY = (
    "granian",
    "aiohttp",
    "aiosmtplib",
    "inngest",
    "obstore",
    "holdfast.service",
    "holdfast.world",
    "holdfast.indexer",
)
MODULES = sorted(
    ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for file in (ROOT / "src/holdfast/client").rglob("*.py")
)


def test_every_public_name_is_there_and_is_what_its_home_says():
    for name in holdfast.__all__:
        assert getattr(holdfast, name).__name__ == name
        assert name in dir(holdfast)
    assert sorted(holdfast.__all__) == list(holdfast.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = holdfast.nonsense


def test_type_checkers_see_the_same_names():
    tree = ast.parse((ROOT / "src/holdfast/__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert sorted(alias.asname for node in block.body for alias in node.names) == holdfast.__all__


def run(script):
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_holdfast_brings_nothing():
    run("import sys, holdfast; assert not [m for m in sys.modules if m.startswith(('holdfast.', 'httpx', 'msgspec'))]")


def test_no_module_of_the_client_needs_the_service():
    """Every module imports, and a client and a vault work, even if the service's packages cannot be imported."""
    run(f"""
import importlib, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith({SERVICE_ONLY!r}):
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Blocked())
for name in {MODULES!r}:
    importlib.import_module(name)
import holdfast
with holdfast.Client("http://localhost:9") as client, holdfast.Vault() as vault:
    assert vault.status().initialized is False
""")


def test_the_source_names_no_part_of_the_service():
    for file in (ROOT / "src/holdfast/client").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith(SERVICE_ONLY)], file


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Run mypy as a consumer would, outside this tree, with one cache for both tests."""
    folder = tmp_path_factory.mktemp("consumer")

    def checked(name):
        file = Path(__file__).parent / "data" / name
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder), str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)

    return checked


@pytest.mark.soak  # a second whole run of mypy
def test_a_consumers_strict_type_check_passes(check):
    assert (ROOT / "src/holdfast/py.typed").exists()
    result = check("consumer.py")
    assert result.returncode == 0, result.stdout


def test_a_consumers_mistakes_are_found(check):
    result = check("mistakes.py")
    found = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    source = (Path(__file__).parent / "data/mistakes.py").read_text()
    marked = {number for number, line in enumerate(source.splitlines(), 1) if "# wrong" in line}
    assert found == marked, result.stdout


def test_the_first_signature_comes_quickly():
    """The limit on the time from process start to a signature is generous, because test machines are shared."""
    started = time.monotonic()
    run("""
import holdfast, base64, sys
sys.path.insert(0, '.')
from tests.support.software_authenticator import SoftwareAuthenticator
from holdfast.client import types
passkey = holdfast.Authenticator("http://localhost:1", SoftwareAuthenticator()).create_passkey(holdfast.Person("ada"))
with holdfast.Vault() as vault:
    vault.generate(types.GenerateInput(credential=passkey.credential), holdfast.SecretKey(b"k" * 32))
    assert len(vault.sign(b"d" * 32).signature) == 64
""")
    assert time.monotonic() - started < 90
