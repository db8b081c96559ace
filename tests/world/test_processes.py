"""Child processes end with their parent, however it ends; the tests use real process trees."""

import asyncio
import os
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from holdfast.world.errors import WorldError
from holdfast.world.processes import Supervisor, free_port

SLEEPER = "import time; print('up', flush=True); time.sleep(120)"
# A program that ignores requests to stop and has a child process.
STUBBORN = (
    "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); print('up', flush=True); time.sleep(120)"
)
PARENT = """
import asyncio, sys
from pathlib import Path
from holdfast.world.processes import Supervisor
async def main():
    async with Supervisor(Path(sys.argv[1])) as world:
        child = await world.start("child", [sys.executable, "-c", sys.argv[2]])
        while b"up" not in child.log.read_bytes():
            await asyncio.sleep(0.01)
        print(child.process.pid, flush=True)
        await asyncio.sleep(120)
asyncio.run(main())
"""


def parent(logs, program):
    process = subprocess.Popen([sys.executable, "-c", PARENT, str(logs), program], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process, psutil.Process(process.pid).children(recursive=True)


def all_gone(processes, within_s):
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return not [process for process in alive if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(
    ("program", "number"),
    [(STUBBORN, signal.SIGKILL), (SLEEPER, signal.SIGTERM)],
    ids=["stubborn child, SIGKILL", "polite child, SIGTERM"],
)
def test_a_killed_parent_leaves_nothing_behind(tmp_path, program, number):
    process, family = parent(tmp_path, program)
    assert len(family) >= 2
    process.send_signal(number)
    process.wait(60)
    process.stdout.close()
    assert all_gone(family, 60)


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_a_killed_guard_takes_its_command_along(tmp_path):
    process, family = parent(tmp_path, SLEEPER)
    family[0].kill()
    assert all_gone(family, 60)
    process.kill()
    process.communicate()


async def test_the_end_of_the_block_is_the_end_of_the_program(tmp_path):
    async with Supervisor(tmp_path) as world:
        child = await world.start("child", [sys.executable, "-c", SLEEPER])
        family = [psutil.Process(child.process.pid)]
        while not family[0].children():
            await asyncio.sleep(0.01)
        family += family[0].children()
    assert child.process.returncode == 128 + signal.SIGTERM, "it was not asked but killed"
    assert all_gone(family, 10)


async def test_a_program_that_ends_early_is_named_with_its_last_words_and_one_that_is_never_ready_given_up(tmp_path):
    async def never():
        return False

    async with Supervisor(tmp_path) as world:
        child = await world.start("sponsor", [sys.executable, "-c", "print('no such chain'); raise SystemExit(3)"])
        with pytest.raises(WorldError, match="sponsor stopped while starting: no such chain"):
            await world.ready(child, never, 120)
        assert (await world.first_to_end()).name == "sponsor"
        assert child.process.returncode == 3
        with pytest.raises(WorldError, match="not ready"):
            await world.ready(await world.start("slow", [sys.executable, "-c", SLEEPER]), never, 0.1)


async def test_no_secret_of_ours_reaches_a_child(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTESTATION_SIGNING_KEY", "hidden")
    async with Supervisor(tmp_path) as world:
        child = await world.start("env", [sys.executable, "-c", "import os; print(dict(os.environ))"])
        await child.process.wait()
    assert "hidden" not in child.log.read_text()
    assert os.environ["PATH"] in child.log.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a port is only free at the moment it is picked")
def test_a_free_port_is_given_to_nobody_else_and_can_be_served_on():
    port = free_port()
    # The system never assigns a port that it refuses when a process names it.
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(server.getsockname()):
        pass
