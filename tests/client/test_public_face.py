"""The package's public names and types, a fast import, and independence from the service's packages."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

ROOT = Path(__file__).parents[2]
SERVICE_ONLY = (
    "granian", "aiohttp", "aiosmtplib", "inngest", "obstore", "holdfast.service", "holdfast.world",
    "holdfast.indexer",
)  # fmt: skip
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


def test_importing_holdfast_brings_nothing_and_its_types_are_for_consumers():
    assert (ROOT / "src/holdfast/py.typed").exists()  # tests/client/data/consumer.py uses them
    run("import sys, holdfast; assert not [m for m in sys.modules if m.startswith(('holdfast.', 'httpx2', 'msgspec'))]")


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
