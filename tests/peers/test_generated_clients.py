"""Foreign generators read /openapi.json; their clients pass their compilers and register a handle."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.signature_verifiers import needs_viem

from holdfast.world import node

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]  # types of 700 files
HERE = Path(__file__).parent
# The generator knows no other binary types.
OVERRIDES = """content_type_overrides:
  application/vnd.ipfs.ipns-record: application/octet-stream
  application/vnd.ipld.raw: application/octet-stream
  application/wasm: application/octet-stream
  image/svg+xml: application/octet-stream
  image/*: application/octet-stream
"""
# Its own file has types that mypy refuses.
CHECKED = ("--follow-imports=silent", "--config-file=", "-p", "made.api", "-p", "made.models")


def ran(*words, where, **environment):
    done = subprocess.run(
        words, cwd=where, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def someone(server):
    """Return the arguments of a program that registers: the address, a free handle, its DID, and another DID."""
    return server.url, f"g{secrets.token_hex(5)}", *(f"did:new:0x{secrets.token_hex(32)}" for _ in range(2))


def test_openapi_python_client(serve, tmp_path):
    server, tools = serve(), Path(sys.executable).parent
    (tmp_path / "config.yml").write_text(OVERRIDES)
    asked = ("generate", "--url", f"{server.url}/openapi.json", "--config", "config.yml", "--meta", "none")
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    said = ran(tools / "openapi-python-client", *asked, "--output-path", "made", where=tmp_path, PATH=path)
    assert "WARNING" not in said and "ERROR" not in said, said
    ran(tools / "mypy", *CHECKED, where=tmp_path)
    ran(sys.executable, HERE / "generated_client.py", *someone(server), where=tmp_path, PYTHONPATH=str(tmp_path))


@needs_viem
def test_openapi_typescript(serve, tmp_path):
    server, packages = serve(), HERE / "node_modules"
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "app.ts").write_text((HERE / "generated_client.ts").read_text())
    program = (node.folder() or Path("/usr")) / "bin" / "node"
    generator = packages / "openapi-typescript" / "bin" / "cli.js"
    ran(program, generator, f"{server.url}/openapi.json", "-o", "made.d.ts", where=tmp_path)
    compiler = (program, packages / "typescript" / "bin" / "tsc", "--strict", "--noUncheckedIndexedAccess", "--noEmit")
    options = ("--allowImportingTsExtensions", "--module", "nodenext", "--target", "es2024")
    ran(*compiler, *options, "app.ts", where=tmp_path)
    ran(program, "app.ts", *someone(server), where=tmp_path)
