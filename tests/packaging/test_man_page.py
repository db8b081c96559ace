"""The man page is made from the commands, and man's formatter reads it without a warning."""

import getpass
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.clean_tree import ROOT

from holdfast.cli.exits import Exit
from holdfast.cli.root import COMMANDS


def test_every_command_and_exit_code_is_in_it_and_nothing_of_this_machine(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools" / "man_page.py", tmp_path / "holdfast.1"], check=True, timeout=400)
    page = (tmp_path / "holdfast.1").read_text("utf-8")
    shown = re.findall(r"^\.SS holdfast (\S+)", page, re.MULTILINE)
    assert {name.replace("\\-", "-") for name in shown} == set(COMMANDS)
    assert ".SS holdfast admin\\-key new {name}\n" in page and "\\fB\\-\\-env\\-file" in page
    assert re.findall(r"^\.TP\n(\d+)$", page, re.MULTILINE) == [str(code.value) for code in Exit]
    assert str(Path.home()) + "/" not in page
    assert not re.search(rf"default: {re.escape(getpass.getuser())}\b", page)
    requests = {line.split(maxsplit=1)[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B", ".I", ".RI"}, "no line of text is taken for a request"
    if formatter := shutil.which("groff"):
        command = [formatter, "-k", "-ww", "-man", "-Tutf8", "-z"]
        done = subprocess.run(command, input=page.encode(), capture_output=True, check=True, timeout=400)
        assert done.stderr == b""
