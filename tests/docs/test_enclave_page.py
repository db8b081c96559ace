"""Both examples in docs/enclave.md run unchanged."""

import base64
import re
import shutil
import subprocess
from pathlib import Path

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from holdfast.enclave import bundled, bundled_sha256
from holdfast.world.errors import NodeMissing
from holdfast.world.tools import OLDEST_NODE, find_node

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/enclave.md").read_text()


@pytest.fixture
def credential():
    """An attestation object with format "none"."""
    numbers = ec.generate_private_key(ec.SECP256R1()).public_key().public_numbers()
    key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}, canonical=True)
    data = bytes(32) + b"\x45" + bytes(4) + bytes(16) + (16).to_bytes(2) + bytes(16) + key
    return cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}, canonical=True)


def test_the_python_example(credential, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {"credential": credential}
    exec(compile(example, "docs/enclave.md", "exec"), names)
    assert capsys.readouterr().out == "invalid_field\n"
    assert len(base64.b64decode(str(names["signature"]))) == 64
    assert isinstance(names["accounts"], list) and len(names["accounts"]) == 1


def test_the_javascript_example(credential, tmp_path):
    try:
        node = find_node()
    except NodeMissing:
        pytest.skip(f"Node {OLDEST_NODE} or newer is missing: the JavaScript example did not run")
    (example,) = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    for name in ("enclave-host.js", "errors.js"):
        shutil.copy(ROOT / "build" / "modules" / "src" / name, tmp_path)
    given = f"""import {{ readFileSync }} from "node:fs";
const module = readFileSync({str(bundled())!r});
const sha256 = "{bundled_sha256()}";
const credential = Buffer.from("{base64.b64encode(credential).decode()}", "base64");
"""
    shown = "\nconsole.log(identity.did, Buffer.from(signature, 'base64').length, database.length > 1000);\n"
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "example.js").write_text(given + example + shown)
    ran = subprocess.run([node, "example.js"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert re.fullmatch(r"did:new:0x[0-9a-f]{64} 64 true\n", ran.stdout), ran.stderr
