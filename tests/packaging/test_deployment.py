"""Tests of the container image and the systemd unit that need neither a container engine nor a running systemd.

The image itself is not built here. Instead, kernel namespaces show that the service runs as an unprivileged user, with
a read-only root file system and a single writable data folder.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2
import pytest
from tests.support.clean_tree import ROOT
from tests.support.serving import HOLDFAST, environment_of, free_port, launched, wait_until_ready

from holdfast.service.serve import STOP_WITHIN_S
from holdfast.service.settings.values import read_settings

UNIT = ROOT / "deploy" / "holdfast.service"
DOCKERFILE = (ROOT / "Dockerfile").read_text()
BOOTSTRAP = (ROOT / "tools" / "bootstrap.py").read_text()
EXPOSURE_LIMIT = 20  # in tenths, as `systemd-analyze security --threshold` counts
NOBODY = 65534


def unit():
    settings = {}
    for line in UNIT.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(name, []).append(value)
    return settings


def test_the_unit_is_hardened_and_gives_the_service_its_time_to_stop():
    settings = unit()
    assert STOP_WITHIN_S < int(settings["TimeoutStopSec"][0]) <= STOP_WITHIN_S + 10
    waits = int(settings["ExecStartPost"][0].removeprefix("/opt/holdfast/bin/holdfast ready --wait "))
    assert read_settings({}).database_wait < waits < int(settings["TimeoutStartSec"][0])
    assert settings["ExecReload"] == ['/bin/sh -c "kill -HUP $MAINPID"']
    assert settings["ExecStart"][0].endswith(" serve")
    assert "HOLDFAST_ENV=production" in settings["Environment"][0].split()
    # `on-failure` treats death by SIGHUP, by a reload that comes too early, as success (systemd.service(5), Restart=).
    assert (settings["Restart"], settings["RestartForceExitStatus"]) == (["on-failure"], ["SIGHUP"])
    hardened = "NoNewPrivileges ProtectHome PrivateTmp PrivateDevices RestrictNamespaces LockPersonality"
    assert {name for name in hardened.split() if settings[name] != ["yes"]} == set()
    assert settings["ProtectSystem"] == ["strict"]
    assert settings["CapabilityBoundingSet"] == [""]
    assert settings["StateDirectoryMode"] == ["0700"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit_and_finds_it_hardened(tmp_path):
    file = tmp_path / "holdfast.service"
    file.write_text(UNIT.read_text().replace("/opt/holdfast/bin/holdfast", HOLDFAST))
    verified = subprocess.run(
        ["systemd-analyze", "verify", file], capture_output=True, text=True, timeout=120, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    command = [
        "systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_LIMIT}", "--no-pager",
        str(file),
    ]  # fmt: skip
    secured = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert secured.returncode == 0, secured.stdout


def test_the_image_has_stages_a_user_without_rights_one_volume_and_no_address_of_anyone():
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert DOCKERFILE.count("\nFROM ") == 2
    for line in (r"USER 10001:10001", r"VOLUME /data", r'HEALTHCHECK .* CMD \["holdfast", "ready"\]'):
        assert re.search(f"^{line}$", final, re.MULTILINE), line
    assert final.index("USER ") < final.index("ENTRYPOINT")
    assert "HOLDFAST_ENV=production" in final
    # A `# syntax=` line makes BuildKit fetch a frontend from Docker Hub, even if the base image has a mirror.
    assert not re.search(r"^#\s*syntax\s*=", DOCKERFILE, re.IGNORECASE | re.MULTILINE)
    assert not re.search(r"KEY|TOKEN|PASSWORD|SECRET|--mount=type=secret|^ADD", DOCKERFILE, re.MULTILINE)
    # Labels are those of the OCI image specification (annotations). Whoever builds it names the sources.
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', final))
    assert labels.keys() == {"title", "description", "licenses", "version", "url", "source", "revision"}
    assert {labels["url"], labels["source"]} == {"${HOLDFAST_PROJECT_URL}"} and labels["revision"] == "${REVISION}"
    assert re.findall(r"^ARG (\w+)=$", DOCKERFILE, re.MULTILINE) == ["HOLDFAST_PROJECT_URL"] * 2 + ["REVISION"]


def test_everything_that_is_copied_exists_and_is_let_through():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    sources = {word.strip("/") for line in copied for word in line.split()}
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == sources
    assert all((ROOT / name).exists() for name in sources)


def test_what_is_installed_from_locks_are_wheels_alone():
    """A source distribution would run its setup code while the image or a checkout is being built."""
    installs = re.findall(r"pip install [^&]*", DOCKERFILE) + re.findall(r'_pip\("install".*', BOOTSTRAP)
    locked = [line for line in installs if "lock" in line or "--require-hashes" in line]
    assert len(locked) == 3
    for line in locked:
        assert "--require-hashes" in line
        assert re.search(r'--only-binary"?,? "?:all:', line), line


def _bind(root, path, options="ro"):
    inside = root / path.relative_to("/")
    create = f"mkdir -p '{inside}'" if path.is_dir() else f"mkdir -p '{inside.parent}' && touch '{inside}'"
    return [create, f"mount --bind '{path}' '{inside}'", f"mount -o remount,bind,{options} '{inside}'"]


def _script(root, data, command):
    """Return a script that sets up a root file system in memory, with everything read-only except the data folder."""
    system = [Path(name) for name in ("/usr", "/lib", "/lib64", "/bin", "/etc") if Path(name).is_dir()]
    ours = [Path(sys.prefix), Path(sys.base_prefix), ROOT / "src"]
    devices = [Path("/dev/null"), Path("/dev/urandom")]
    lines = ["set -e", "mount --make-rprivate /", f"mount -t tmpfs -o mode=755 none '{root}'"]
    for path in [*system, *(path for path in ours if not path.is_relative_to("/usr")), *devices]:
        lines += _bind(root, path, "ro" if path not in devices else "rw")
    lines += [f"mkdir '{root}/proc' '{root}/data'", f"mount -t proc proc '{root}/proc'"]
    lines += [f"mount --bind '{data}' '{root}/data'", f"mount -o remount,ro '{root}'"]
    rights = f"--reuid {NOBODY} --regid {NOBODY} --clear-groups --no-new-privs --bounding-set=-all"
    lines.append(f"exec chroot '{root}' setpriv {rights} {command}")
    return "\n".join(lines)


@pytest.fixture
def data():
    folder = Path(tempfile.mkdtemp(prefix="holdfast-data-"))
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def _may_unshare():
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _may_unshare(), reason="needs root, unshare and setpriv to make a read-only root")
def test_it_runs_without_rights_in_a_read_only_root(data, tmp_path):
    port, admin = free_port(), free_port()
    (tmp_path / "root").mkdir()
    environment = environment_of(Path("/data"), workers="2", admin_port=str(admin), PYTHONDONTWRITEBYTECODE="1")
    inside = f"sh -c \"cd /data && ! touch /x && ! touch '{sys.prefix}/x' && exec '{HOLDFAST}' serve --port {port}\""
    command = ["unshare", "-mpf", "--kill-child", "sh", "-c", _script(tmp_path / "root", data, inside)]
    running = launched(command, environment, port, data, tmp_path / "log")
    try:
        wait_until_ready(running)
        with running.client() as client:
            assert running.session(client, "ann", "192.0.2.1").status_code == 200
            asked = {"identifier": "a@b.example", "channel": "email"}
            assert client.post("/api/verify/send", json=asked).status_code == 200
            assert client.get("/enclave.wasm").status_code == 200
        assert "holdfast_requests_total" in httpx2.get(f"http://127.0.0.1:{admin}/metrics", timeout=60).text
        assert {path.stat().st_uid for path in data.rglob("*")} == {NOBODY}
        assert (data / "holdfast.db").stat().st_mode & 0o777 == 0o600
        os.kill(_child(running.process.pid), signal.SIGTERM)
        assert running.process.wait(60) == 0
    finally:
        running.kill_all()


def _child(pid):
    """Return the process ID of the service, which is the child of the waiting `unshare` process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
