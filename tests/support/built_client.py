"""Builds the client that a service in a checkout serves, once after a change of its sources."""

from __future__ import annotations

import fcntl
import subprocess
import sys

from tests.support.clean_tree import ROOT

from holdfast.service.web.client_files import BUILT, client_folder


def build_if_older() -> None:
    """Build the client unless the build is newer than every source."""
    BUILT.parent.mkdir(exist_ok=True)
    with (BUILT.parent / "client.lock").open("w") as lock:  # several workers may ask at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if client_folder() != BUILT:
            command = [sys.executable, str(ROOT / "browser" / "build.py"), "served"]
            subprocess.run(command, check=True, capture_output=True)
    assert client_folder() == BUILT, "browser/build.py says why there is no build"
