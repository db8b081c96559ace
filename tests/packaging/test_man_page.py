"""The man page is made from the commands, and man's formatter reads it without a warning."""

import getpass
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.clean_tree import ROOT

from holdfast.cli.exits import Exit
from holdfast.cli.root import COMMANDS


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    made = tmp_path_factory.mktemp("man") / "holdfast.1"
    subprocess.run([sys.executable, ROOT / "tools" / "man_page.py", made], check=True, timeout=400)
    return made.read_text("utf-8")


def test_every_command_with_its_options_and_every_exit_code_is_in_it(page):
    shown = re.findall(r"^\.SS holdfast (\S+)", page, re.MULTILINE)
    assert {name.replace("\\-", "-") for name in shown} == set(COMMANDS)
    assert ".SS holdfast admin\\-key new {name}\n" in page
    assert "\\fB\\-\\-strict\\fR" in page or "\\fB\\-\\-env\\-file" in page
    assert re.findall(r"^\.TP\n(\d+)$", page, re.MULTILINE) == [str(code.value) for code in Exit]


def test_it_is_the_same_on_every_machine(page):
    assert str(Path.home()) + "/" not in page
    assert not re.search(rf"default: {re.escape(getpass.getuser())}\b", page)


def test_no_line_of_text_is_taken_for_a_request(page):
    requests = {line.split(maxsplit=1)[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B", ".I", ".RI"}
    if formatter := shutil.which("groff"):
        command = [formatter, "-k", "-ww", "-man", "-Tutf8", "-z"]
        done = subprocess.run(command, input=page.encode(), capture_output=True, check=True, timeout=400)
        assert done.stderr == b""
