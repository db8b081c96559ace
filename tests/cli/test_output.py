"""What commands print: a stranger's words, in a message or a result, move no cursor and begin no line."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from tests.support.serving import HOLDFAST
from tests.support.terminal import Terminal

from holdfast.cli.client_vault import say
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail, note

LIE = "no\x1b[2J\r\x9b1A\u202e\u2066\x00"
SHOWN = "no" + "\ufffd[2J" + "\ufffd" * 2 + "1A" + "\ufffd" * 3


@pytest.mark.parametrize("before", ["holdfast: ", "holdfast: note: "])
def test_an_error_or_a_note_is_one_line(capsys, before):
    text = f"{LIE}\nholdfast: all is well\u2028too"
    with suppress(SystemExit):
        note(text) if "note" in before else fail(Exit.FAILED, text)
    said = "no\ufffd[2J \ufffd1A" + "\ufffd" * 3 + " holdfast: all is well too"
    assert capsys.readouterr().err == f"{before}{said}\n"


def test_a_result_keeps_its_lines_columns_and_scripts_and_json_has_the_text_itself(capsys):
    emit(None, f"{LIE}\n\tZoë\u00a0\U0001f469\u200d\U0001f680 אב", as_json=False)
    assert capsys.readouterr().out == f"{SHOWN}\n\tZoë\u00a0\U0001f469\u200d\U0001f680 אב\n"
    say(LIE)
    assert capsys.readouterr().err == f"{SHOWN}\n"
    emit([LIE], "", as_json=True)
    with pytest.raises(SystemExit):
        fail(Exit.FAILED, LIE, as_json=True)
    printed = capsys.readouterr()
    assert (json.loads(printed.out), json.loads(printed.err)["error"]) == ([LIE], LIE)


@pytest.mark.parametrize("command", [("frob",), ("vault", "frob"), ("vault", "create", "--frob"), ("restore",)])
def test_a_mistaken_command_line_is_json_for_machines(holdfast, command):
    refused = holdfast(*command, "--json")
    assert (refused.code, refused.out, refused.error["exit"]) == (Exit.USAGE, "", Exit.USAGE)
    assert "frob" in refused.error["error"] or "Missing argument" in refused.error["error"]


@pytest.mark.parametrize("shell", ['exec "$@"', 'exec "$@" >&- 2>&-'], ids=["gone", "never there"])
def test_what_was_done_is_not_told_as_failed_because_its_reader_is_gone(tmp_path, shell):
    """The command says on stderr that the service does not answer."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        words = ["sh", "-c", shell, "sh", HOLDFAST, "vault", "create", "--password"]
        env = Terminal(tmp_path / "vault").environment
        ended = subprocess.run(words, env={**os.environ, **env}, stdout=gone, stderr=gone, check=False)
    assert (ended.returncode, (tmp_path / "vault").is_dir()) == (Exit.OK, True)


INTERRUPTED = {
    "import sys; from holdfast.cli import main; sys.meta_path.insert(0, sys); sys.find_spec = stop; main()": b"",
    "import builtins; builtins.input = stop; import typer; from holdfast.cli import main, root;"
    "root.application = typer.Typer(); root.application.command()(lambda: typer.confirm('?')); main()": b"holdfast: aborted\n",
}


@pytest.mark.parametrize(("script", "says"), INTERRUPTED.items(), ids=["while modules are imported", "at a question"])
def test_an_interrupt_is_no_traceback(script, says):
    # A process whose parent ignores SIGINT, such as a shell's job in the background, would ignore it too.
    heeds = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script = f"{heeds}def stop(*_): signal.raise_signal(signal.SIGINT)\n{script}"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (Exit.INTERRUPTED, says)


@pytest.mark.parametrize("command", [("acts", "--operator"), ("ban", "add", "name"), ("backup",), ("vault", "new")])
def test_bytes_that_are_no_text_are_refused_before_anything_is_done(holdfast, command):
    refused = holdfast(*command, "a\udcff", "--json")
    assert (refused.code, refused.error["error"]) == (Exit.USAGE, "an argument is not text in UTF-8")
    assert not holdfast.data.exists()
