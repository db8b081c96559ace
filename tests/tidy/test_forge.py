"""What a forge reads: its workflow runs what .ci/run runs, and Renovate finds every list of dependencies."""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_workflow_runs_the_commands_of_every_submission():
    jobs = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text("utf-8"))["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert steps == re.findall(r"^(?:exec )?(make \w+)$", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)


def test_renovate_reads_its_settings_and_finds_the_lock_files():
    file = ROOT / ".github" / "renovate.json"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.renovate", file]
    subprocess.run(command, check=True, timeout=400)
    (pattern,) = json.loads(file.read_text("utf-8"))["pip_requirements"]["managerFilePatterns"]
    locks = [str(lock.relative_to(ROOT)) for lock in (ROOT / "requirements").glob("*.lock")]
    assert len(locks) > 3 and all(re.search(pattern.strip("/"), lock) for lock in locks)
