"""The embedded database's file system is frozen: writes get 503 within their limit, and everything else is answered."""

import contextlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.serving import becomes_true

_SIZE = 64 * 1024 * 1024
_PROGRAMS = ("fsfreeze", "mkfs.ext4", "mount", "umount")


def why_not():
    if os.geteuid() != 0:
        return "needs root"
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    return f"{', '.join(missing)}: not installed" if missing else None


@contextlib.contextmanager
def mounted(folder):
    """Yield a folder on a file system that only the caller uses; None if the kernel does not mount it."""
    image, place = folder / "image", folder / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(_SIZE)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@contextlib.contextmanager
def frozen(place):
    """Within the block, let every write to the file system wait.

    A process of its own also ends this if the tests are killed: whoever cleans up after them would wait for ever.
    """
    keep = 'fsfreeze -f "$0" && echo frozen && read line; fsfreeze -u "$0"'
    with subprocess.Popen(
        ["sh", "-c", keep, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as keeper:
        assert keeper.stdout.readline() == b"frozen\n"
        yield


REASON = why_not()
READ = ("/healthz", "/api/contracts", "/api/sessions/check?handle=before", "/api/status")


@pytest.mark.soak
@pytest.mark.skipif(REASON is not None, reason=f"no file system to freeze: {REASON}")
def test_a_frozen_file_system_stops_only_writes(serve, tmp_path):
    with mounted(tmp_path) as place:
        if place is None:
            pytest.skip("this kernel mounts no image")
        server = serve(place / "data", MAX_REGISTRATIONS_PER_IP="1000000")
        with server.client() as client, server.client() as other, ThreadPoolExecutor() as threads:
            for number in range(20):
                assert server.session(client, f"warm{number}", "192.0.2.1").status_code == 200
            assert server.session(client, "before", "192.0.2.1").status_code == 200
            with frozen(place):
                writing = threads.submit(server.session, other, "during", "192.0.2.1")
                while not writing.done():
                    assert [client.get(path).status_code for path in READ] == [200] * len(READ)
                assert writing.result().status_code == 503
                assert client.get("/readyz").status_code == 503
            assert becomes_true(lambda: client.get("/readyz").status_code == 200)
            assert server.session(client, "after", "192.0.2.1").status_code == 200
        assert server.stop() == 0
