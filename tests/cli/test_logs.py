"""What libraries log while a command runs, and what an environment that they read says wrongly."""

import os
import subprocess
import sys

import pytest

NOISY = """
import logging, threading, typer
app = typer.Typer()

@app.command()
def noisy():
    log, secret = logging.getLogger("library"), "hunter%d" % 2
    log.info(secret)
    log.warning("slow \\x1b[2K\\nholdfast: answer")
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("failed")
    threading.Thread(target=lambda: int(secret)).start()
    typer.echo("done")
"""
RUN = "import sys; from holdfast.cli import root; root.COMMANDS['noisy'] = ('noisy', ''); sys.exit(root.root())"


def test_warnings_of_libraries_are_single_lines_on_stderr_without_messages_of_exceptions(tmp_path):
    (tmp_path / "noisy.py").write_text(NOISY)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", RUN, "noisy"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (ran.returncode, ran.stdout) == (0, "done\n")
    assert "hunter2" not in ran.stderr and "\x1b" not in ran.stderr
    said = [line[9:] for line in ran.stderr.splitlines() if line[2:3] == ":"]
    assert said == [r"warning slow \x1b[2K\nholdfast: answer", "error   failed", "error   thread ended by an exception"]


@pytest.mark.parametrize("content", ["", "no certificates"])
def test_a_mistyped_file_of_certificates_is_named(tmp_path, content):
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    command = [sys.executable, "-m", "holdfast", "contracts", "verify", "--rpc", "http://127.0.0.1:9"]
    environment = {**os.environ, "SSL_CERT_FILE": str(file)}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    said = f"holdfast: SSL_CERT_FILE: {file} cannot be read as certificates in PEM\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", said)
