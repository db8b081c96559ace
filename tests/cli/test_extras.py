"""A plain install: a command whose parts stand in an extra says which."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.cli.exits import Exit
from holdfast.cli.root import EXTRAS


@pytest.mark.parametrize(
    "arguments",
    [
        ("whoami",),
        ("vault", "status"),
        ("contracts", "verify", "--rpc", "http://127.0.0.1:9"),
        ("dev", "--demo"),
    ],
    ids=" ".join,
)
def test_what_is_not_installed_is_named_in_one_line(arguments: tuple[str, ...]) -> None:
    program = (
        "import sys\n"
        f"for name in {list(EXTRAS)!r}: sys.modules[name] = None\n"
        f"sys.argv = {['holdfast', *arguments]!r}\n"
        "from holdfast.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == Exit.CONFIGURATION, done.stderr
    assert "pip install 'holdfast[" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_any_other_missing_module_is_not_hidden() -> None:
    program = (
        "import sys\n"
        "sys.modules['holdfast.service.setting_rows'] = None\n"
        "sys.argv = ['holdfast', 'config']\n"
        "from holdfast.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == Exit.FAILED
    assert "ModuleNotFoundError" in done.stderr
