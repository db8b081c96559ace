"""What a forge reads: its workflow runs what .ci/run runs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_workflow_runs_the_commands_of_every_submission() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text("utf-8"))["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert steps == re.findall(r"^(?:exec )?(make \w+)$", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
