"""Alert rules and the dashboard use only metrics that the service declares; every alert is explained and tested."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from holdfast.service.telemetry.metric_rows import BY_NAME, Kind
from holdfast.service.web.routes import PREFIX_ROUTES, ROUTES

ROOT = Path(__file__).resolve().parents[2]
# Debian's package `prometheus` has promtool; `make setup` fetches it without root (tools/programs.py).
UNPACKED = ROOT / ".setup" / "programs" / "root" / "usr" / "bin"
PROGRAM = shutil.which("promtool", path=os.pathsep.join([os.environ.get("PATH", ""), str(UNPACKED)]))
MISSING = "promtool is not installed (Debian's package prometheus): alert rules are NOT tried by Prometheus itself"
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
TESTS = ROOT / "deploy" / "prometheus" / "alerts.test.yml"
RUN_BOOKS = (ROOT / "docs" / "alerts.md").read_text("utf-8")
GROUPS = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
RECORDED = {rule["record"]: rule["expr"] for group in GROUPS for rule in group["rules"] if "record" in rule}
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "holdfast.json").read_text("utf-8"))
# Metrics and labels that Prometheus itself adds: the state of scrapes and alerts, and a target's labels.
PROMETHEUS_OWN = {"up", "ALERTS"}
TARGET_LABELS = {"job", "instance", "le"}


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]|\boffset\s+\w+")
_SELECTED = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_NAME = re.compile(r"(?<![\w:$.])[a-zA-Z_:][\w:]*(?!\s*\()\b")
_WORDS = {"and", "or", "unless", "bool", "by", "without", "on", "ignoring", "offset", "inf", "nan"}
_CALLED = re.compile(r"[a-zA-Z_]\w*(?=\s*\()")


def metrics_in(expression):
    """Return the names of all metrics that an expression reads."""
    text = _RANGE.sub("", _GROUPING.sub("", _STRING.sub('""', expression)))
    text = re.sub(r"\{[^}]*\}", "", text)
    text = _CALLED.sub("", text)
    return {name for name in _NAME.findall(text) if name.lower() not in _WORDS}


def labels_in(expression):
    """For each selector in the expression, return a (metric, label) pair for each of its labels."""
    text = _STRING.sub('""', expression)
    return {
        (name, label)
        for name, inside in _SELECTED.findall(text)
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside)
    }


def groupings_in(expression):
    """Return the labels by which the expression groups."""
    return {label.strip() for inside in _GROUPING.findall(expression) for label in inside.split(",") if label.strip()}


def _declared():
    names = set(PROMETHEUS_OWN) | set(RECORDED)
    for row in BY_NAME.values():
        parts = ("_bucket", "_sum", "_count") if row.kind is Kind.HISTOGRAM else ("",)
        names.update(row.name + part for part in parts)
    return names


def _labels(name):
    if name in RECORDED:
        return groupings_in(RECORDED[name])
    row = BY_NAME.get(name) or BY_NAME.get(re.sub(r"_(bucket|sum|count)$", "", name))
    return TARGET_LABELS | (set(row.labels) if row else {"alertname", "alertstate"})


def _panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


EXPRESSIONS = [
    *((f"alert {name}", rule["expr"]) for name, rule in ALERTS.items()),
    *RECORDED.items(),
    *((f"panel {panel['title']}", target["expr"]) for panel in _panels() for target in panel["targets"]),
]


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS, ids=[where for where, _ in EXPRESSIONS])
def test_each_expression_uses_declared_metrics_and_their_labels(where, expression):
    names = metrics_in(expression)
    assert names, where
    assert names <= _declared(), names - _declared()
    assert {(name, label) for name, label in labels_in(expression) if label not in _labels(name)} == set()
    assert groupings_in(expression) <= set.union(*map(_labels, names))


def test_routes_in_expressions_exist():
    routes = {route.path for route in (*ROUTES, *PREFIX_ROUTES)}
    named = {route for _, text in EXPRESSIONS for route in re.findall(r'route="([^"]+)"', text)}
    assert named <= routes


def test_every_metric_is_on_the_dashboard():
    texts = [target["expr"] for panel in _panels() for target in panel["targets"]]
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for text in texts for name in metrics_in(text)}
    assert set(BY_NAME) <= shown


@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_has_a_severity_a_summary_and_a_section_that_explains_it(name):
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in {"critical", "warning", "info"} and rule["annotations"]["summary"]
    assert rule["annotations"]["runbook"] == f"docs/alerts.md#{name.lower()}"
    section = re.search(rf"^## {name}\n(.*?)(?=^#|\Z)", RUN_BOOKS, re.MULTILINE | re.DOTALL)
    assert section is not None
    assert all(f"**{part}**" in section[1] for part in ("Look first.", "Do.")), section[1]


def test_no_section_explains_an_alert_that_is_gone():
    assert set(re.findall(r"^## (Holdfast\w+)$", RUN_BOOKS, re.MULTILINE)) == set(ALERTS)


def test_every_alert_is_tried():
    cases = yaml.safe_load(TESTS.read_text("utf-8"))["tests"]
    fired = {case["alertname"] for test in cases for case in test.get("alert_rule_test", []) if case["exp_alerts"]}
    assert fired == set(ALERTS)


@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
@pytest.mark.parametrize("command", [["check", "rules", RULES], ["test", "rules", TESTS]], ids=["check", "test"])
def test_prometheus_itself_accepts_the_rules_and_their_tests(command):
    done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
