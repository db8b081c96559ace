"""Fixtures of the tests that speak to the running command over raw connections, and of those with a provider's API."""

import subprocess

import pytest
from tests.support.raw_connections import certificate, connected
from tests.support.receivers import provider

__all__ = ["certificate", "connected", "provider"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MiB, or None if this user may not mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield folder if mounted else None
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)
