"""The help texts, unknown commands, and how every command reports a setting that it cannot parse."""

import os
import subprocess
import sys

import pytest
from tests.support.serving import HOLDFAST
from typer.testing import CliRunner

from holdfast import __version__
from holdfast.cli.exits import Exit
from holdfast.cli.root import COMMANDS, application, command_of

READERS = ["serve", "check", "restore x.db", "reserved add ann", "identifier release ann --yes", "enclave verify"]


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


def commands_under(command, *words):
    yield words, command
    for name, under in getattr(command, "commands", {}).items():
        yield from commands_under(under, *words, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_and_speaks_json(name):
    for words, command in commands_under(command_of(name), name):
        done = CliRunner().invoke(application, [*words, "--help"], env={"COLUMNS": "200"}, prog_name="holdfast")
        assert done.exit_code == Exit.OK
        assert f"Usage: holdfast {' '.join(words)}" in done.stdout
        assert "--json" in done.stdout or hasattr(command, "commands"), words


def test_a_mistyped_command_is_told_the_nearest(holdfast):
    answer = holdfast("identifie")
    assert (answer.code, "Did you mean 'identifier'" in answer.err) == (Exit.USAGE, True)


def test_a_shell_completes_commands_and_their_options():
    def completed(words, at):
        asked = {"_HOLDFAST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        done = subprocess.run([HOLDFAST], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
        return done.stdout

    assert completed("holdfast ident", 1).split() == ["identifier"]
    assert completed("holdfast identifier tr", 2).split() == ["transfer"]
    assert "--workers" in completed("holdfast serve --w", 2)


NOT_UNDERSTOOD = ["nothing", "config --nothing", "config surplus", "serve --port many", "backup", "check --env-file"]


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


@pytest.mark.parametrize("content", [None, b"HOLDFAST_PORT=\xff\xfe\n", b'HOLDFAST_MAIL_FROM="a\0@b"\n'])
def test_an_env_file_that_cannot_be_read_exits_3(holdfast, tmp_path, content):
    file = tmp_path / "settings.env"
    if content:
        file.write_bytes(content)
    answer = holdfast("config", "--env-file", file)
    assert answer.code == Exit.CONFIGURATION
    assert answer.err.startswith("holdfast: --env-file: ") and str(file) in answer.err
    assert answer.err.count("\n") == 1
