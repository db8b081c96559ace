"""Every console example in the documentation works exactly as written with a new service."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
MARK = "----8<----"


def examples(text):
    """Return pairs of command and output, in order, skipping blocks that begin with `#` (for another terminal)."""
    found = []
    for block in BLOCK.findall(text):
        if block.startswith("#"):
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip()))
    return found


def pattern(output):
    return r"\s*" + ".*?".join(re.escape(part) for part in output.split("…")) + r"\s*"


@pytest.mark.parametrize("file", ["docs/http.md", "README.md"])
def test_every_example_prints_what_it_says(serve, tmp_path, file):
    shown = examples((ROOT / file).read_text("utf-8"))
    assert len(shown) >= 5
    server = serve(tmp_path / "data")
    holdfast = ROOT / ".venv" / "bin"
    script = "".join(f"{command}\necho; echo {shlex.quote(MARK)}\n" for command, _ in shown)
    script = script.replace("http://localhost:8787", server.url)
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False,
        env={"PATH": f"{holdfast}:/usr/local/bin:/usr/bin:/bin", "HOLDFAST_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)},
    )  # fmt: skip
    outputs = ran.stdout.replace("\r", "").split(MARK)
    for (command, expected), output in zip(shown, outputs, strict=False):
        assert re.fullmatch(pattern(expected), output, re.DOTALL), (
            f"$ {command}\n{output}\nnot\n{expected}\n{ran.stderr}"
        )
    assert len(outputs) == len(shown) + 1
