"""Reads the scenarios of vectors/flows: every case of every file, and for some a killed host after each effect."""

import json
from copy import deepcopy
from itertools import count
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[4] / "vectors" / "flows"
DEFAULTS = json.loads((FOLDER / "defaults.json").read_text("utf-8"))
_MERGED = ("given", "answers", "roots", "records")
_OF_A_CASE = ("name", "category", "flow", "roots", "given", "kill_after", "again")


def scenarios():
    """Return each scenario by its name: the file, the case and, if the host is killed, after which effect."""
    found = {}
    for file in sorted(FOLDER.glob("*.json")):
        if file.stem != "defaults":
            for case in _cases(json.loads(file.read_text("utf-8"))):
                name = f"{file.stem}: {case['name']}"
                found[name] = case
                found |= {f"{name}, {suffix}": killed for suffix, killed in _killed(case)}
    return found


def _cases(file):
    """Yield a file's cases, each with the file's own fields as defaults."""
    shared = {name: value for name, value in file.items() if name not in {"cases", "claim"}}
    for case in file["cases"]:
        merged = deepcopy(shared) | case
        for name in _MERGED:
            if isinstance(shared.get(name), dict):
                merged[name] = {**shared[name], **case.get(name, {})}
        yield _with_events(merged, shared.get("answers", {}))


def _with_events(case, answers):
    """Return a case whose events are a list, also if it is only one, and each have the file's `answers`."""
    if "events" in case:
        return case | {"events": [{**it, "answers": {**answers, **it.get("answers", {})}} for it in case["events"]]}
    if "do" not in case:
        return case
    event = {name: value for name, value in case.items() if name not in _OF_A_CASE}
    return {name: case[name] for name in _OF_A_CASE if name in case} | {"events": [event]}


def _killed(case):
    """Yield the case once for each of its effects, after which the host is killed and the event starts anew."""
    if case.get("kill_after") != "each":
        return
    for at, event in enumerate(case["events"]):
        for number in range(1, len(event["expect"]["effects"]) + 1):
            effect = event["expect"]["effects"][number - 1]
            if effect.startswith("tell"):
                continue  # the application is told at once, and nothing waits for it
            suffix = f"killed after effect {number} of event {at + 1} ({effect})"
            yield suffix, {**case, "category": "killed host", "kill": [at, number]}


def categories():
    """Return the number of scenarios in each category."""
    found = {}
    return {name: next(found.setdefault(name, count(1))) for name in (it["category"] for it in scenarios().values())}
