"""`holdfast serve` as a command: its options, and ports that are not available."""

import asyncio
import errno
import json
import socket
import subprocess

import httpx2
import pytest
from tests.support.serving import HOLDFAST, PATIENCE_S, becomes_true, environment_of

from holdfast.cli.exits import Exit
from holdfast.service.settings.data_folder import unusable_folder
from holdfast.service.store.kinds import database_of
from holdfast.settings.shared import default_url


@pytest.fixture
def taken():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


@pytest.mark.parametrize("server", ["granian", "uvicorn"])
def test_a_port_that_is_taken_exits_4_in_one_line_also_that_of_the_metrics(holdfast, taken, server):
    answer = holdfast("serve", "--port", str(taken), server=server)
    assert answer.code == Exit.UNAVAILABLE
    assert answer.out == ""
    told = "set HOLDFAST_HOST to an address of this machine, and HOLDFAST_PORT to a free port"
    assert answer.err == f"holdfast: cannot listen on 127.0.0.1 port {taken}: Address already in use; {told}\n"
    answer = holdfast("serve", "--port", "0", "--json", admin_port=str(taken), server=server)
    assert answer.code == answer.error["exit"] == Exit.UNAVAILABLE
    assert str(taken) in answer.error["error"] and "HOLDFAST_ADMIN_PORT" in answer.error["error"]


@pytest.mark.parametrize("host", ["192.0.2.77", "no such host", "::2"])
def test_an_address_that_is_not_this_machines_exits_4(holdfast, host):
    answer = holdfast("serve", "--host", host, "--port", "9", public_url="http://localhost:9")
    assert (answer.code, answer.err.count("\n")) == (Exit.UNAVAILABLE, 1)
    assert answer.err.startswith(f"holdfast: cannot listen on {host} port 9: ")


@pytest.mark.parametrize("command", ["serve", "migrate"])
@pytest.mark.parametrize(
    ("folder", "why"), [("/proc/holdfast", "the system lets no one make it"), (__file__, "a file has this name")]
)
def test_a_data_folder_that_cannot_be_made_is_told_with_the_remedy(holdfast, command, folder, why):
    answer = holdfast(command, HOLDFAST_DATA_DIR=folder)
    assert answer.code == Exit.CONFIGURATION
    assert answer.err.startswith(f"holdfast: HOLDFAST_DATA_DIR: {folder} cannot be ") and why in answer.err
    assert answer.err.endswith("; name a folder on a disk with room that this user may write to\n")


def test_a_folder_in_which_nothing_can_be_made_and_a_key_that_may_not_be_read_are_told(holdfast, tmp_path):
    answer = holdfast("serve", HOLDFAST_DATA_DIR="/proc", ATTESTATION_SIGNING_KEY="0123456789abcdef" * 2)
    assert answer.code == Exit.UNAVAILABLE
    assert "/proc/holdfast.db cannot be made: the system lets no one make it there; name another" in answer.err
    file = tmp_path / "attestation-signing-key"
    file.touch()
    said = str(unusable_folder(tmp_path, PermissionError(errno.EACCES, "x", str(file))))
    assert said.startswith(f"{file} cannot be read: user ") and "(chown)" in said


@pytest.mark.parametrize("more", [{"server": "uvicorn"}, {"workers": "2"}], ids=["uvicorn", "two processes"])
def test_port_0_wins_over_the_environment_takes_a_free_port_and_the_banner_says_which(tmp_path, more):
    command = [HOLDFAST, "serve", "--port", "0", "--json"]
    environment = environment_of(tmp_path, port="1", **more)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            address = json.loads(process.stdout.readline())["listening on"]
            assert not address.endswith((":0", ":1"))
            assert becomes_true(lambda: _answers(address))
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _answers(address):
    try:
        return httpx2.get(f"{address}/healthz", timeout=PATIENCE_S).status_code == 200
    except httpx2.TransportError:
        return False


def test_a_database_of_another_chain_is_refused(holdfast, tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    asyncio.run(database_of(default_url(tmp_path / "data")).open(84532).close())
    answer = holdfast("serve", "--port", "0", chain="8453")
    told = "the database belongs to chain 84532: set HOLDFAST_CHAIN=84532"
    assert answer.code == Exit.CONFIGURATION and answer.err.startswith(f"holdfast: HOLDFAST_CHAIN: {told}")
    found = {it["subject"]: it for it in holdfast("check", "--json", chain="8453").value}["database"]
    assert (found["state"], found["found"]) == ("error", "belongs to chain 84532, not 8453")
