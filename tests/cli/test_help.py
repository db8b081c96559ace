"""The help texts, unknown commands, and how every command reports a setting that it cannot parse."""

import os
import subprocess
import sys

import pytest
from tests.support.serving import HOLDFAST
from typer.testing import CliRunner

from holdfast import __version__
from holdfast.cli.exits import Exit
from holdfast.cli.root import COMMANDS, application

GROUPS = {
    "keys": ("new",),
    "reserved": ("list", "add", "remove", "test"),
    "invitation": ("new", "each", "revoke"),
    "identifier": ("show", "release"),
    "credential": ("revoke",),
    "attestation": ("verify",),
    "enclave": ("publish", "verify"),
    "contracts": ("deploy", "verify"),
}
SINGLE = {"serve", "ready", "config", "check", "backup", "restore", "export", "migrate", "dev"}
# Every command that reads settings, with the arguments that it needs before it reads them.
READERS = [
    "serve", "config", "check", "backup x.db", "restore x.db", "export", "migrate", "reserved list",
    "reserved test ann", "reserved add ann", "reserved remove ann", "identifier show ann",
    "identifier release ann --yes", "credential revoke AAAA --yes", "enclave verify", "enclave publish --yes",
]  # fmt: skip


def test_help_is_a_command_too_and_lists_every_command_with_its_line(holdfast):
    answer = holdfast("--help")
    assert answer.code == Exit.OK
    said = " ".join(answer.out.split())
    for name, (_, about) in COMMANDS.items():
        assert f"{name} {about}" in said
    assert holdfast("help").out == answer.out
    assert holdfast("help", "identifier", "list").out == holdfast("identifier", "list", "--help").out
    done = subprocess.run([sys.executable, "-m", "holdfast", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"holdfast {__version__}\n", "the module is the command"


def help_of(*words):
    done = CliRunner().invoke(application, [*words, "--help"], env={"COLUMNS": "200"}, prog_name="holdfast")
    assert done.exit_code == Exit.OK
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name):
    text = help_of(name)
    assert f"Usage: holdfast {name}" in text
    for word in GROUPS.get(name, ()):
        assert f"  {word}" in text
        of_word = help_of(name, word)
        assert f"Usage: holdfast {name} {word}" in of_word
        assert "--json" in of_word
    assert "--json" in text or name not in SINGLE


@pytest.mark.parametrize(("typed", "near"), [("sevre", "serve"), ("identifie", "identifier")])
def test_a_mistyped_command_is_told_the_nearest(holdfast, typed, near):
    answer = holdfast(typed)
    assert (answer.code, f"Did you mean '{near}'" in answer.err) == (Exit.USAGE, True)


def test_a_shell_completes_commands_and_their_options():
    def completed(words, at):
        asked = {"_HOLDFAST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        done = subprocess.run([HOLDFAST], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
        return done.stdout

    assert completed("holdfast ident", 1).split() == ["identifier"]
    assert completed("holdfast identifier tr", 2).split() == ["transfer"]
    assert "--workers" in completed("holdfast serve --w", 2)


NOT_UNDERSTOOD = [
    "nothing", "--nothing", "config --nothing", "config surplus", "serve --port", "serve --port many",
    "serve --workers 1.5", "backup", "backup one two", "restore", "export surplus", "reserved nothing",
    "reserved add", "identifier show", "identifier show a --channel", "credential revoke", "attestation verify",
    "keys old", "check --env-file",
]  # fmt: skip


@pytest.mark.parametrize("words", NOT_UNDERSTOOD)
def test_a_command_line_that_is_not_understood_exits_2(holdfast, words):
    answer = holdfast(*words.split())
    assert answer.code == Exit.USAGE
    assert answer.out == ""
    assert "Error: " in answer.err


@pytest.mark.parametrize("words", READERS)
def test_a_setting_that_cannot_be_read_exits_3_and_is_named(holdfast, words):
    answer = holdfast(*words.split(), "--json", workers="hunter2")
    assert answer.code == Exit.CONFIGURATION
    assert answer.out == ""
    assert answer.error["exit"] == Exit.CONFIGURATION
    assert answer.error["error"].startswith("HOLDFAST_WORKERS: ")
    assert "hunter2" not in answer.err


@pytest.mark.parametrize("what", ["missing", "folder", "binary", "nul"])
def test_an_env_file_that_cannot_be_read_exits_3(holdfast, tmp_path, what):
    file = tmp_path / "settings.env"
    if what == "folder":
        file.mkdir()
    elif what != "missing":
        file.write_bytes(b"HOLDFAST_PORT=\xff\xfe\n" if what == "binary" else b'HOLDFAST_MAIL_FROM="a\0@b"\n')
    answer = holdfast("config", "--env-file", file)
    assert answer.code == Exit.CONFIGURATION
    assert answer.err.startswith("holdfast: --env-file: ")
    assert str(file) in answer.err
    assert answer.err.count("\n") == 1
