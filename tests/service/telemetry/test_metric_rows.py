"""The metrics are well-formed for Prometheus, and have no label whose value a client could choose."""

import re

from holdfast.service.telemetry.metric_rows import LABEL_VALUES, ROWS, Kind
from holdfast.service.telemetry.metrics import REGISTRY

# The service fixes each label's values: routes, methods, statuses, limits, PostgreSQL states, outcomes and release.
_FROM_TABLES = {"route", "method", "status", "limit", "state", "outcome", "version"}


def test_names_follow_the_conventions_of_prometheus():
    for row in ROWS:
        assert re.fullmatch(r"holdfast_[a-z0-9_]+", row.name), row.name
        assert row.name.endswith("_total") == (row.kind is Kind.COUNTER), row.name
        assert row.help.endswith(".") and "\n" not in row.help, row.name
        assert "le" not in row.labels and "job" not in row.labels and "instance" not in row.labels


def test_only_histograms_have_buckets_and_they_rise():
    for row in ROWS:
        assert bool(row.buckets) == (row.kind is Kind.HISTOGRAM), row.name
        assert list(row.buckets) == sorted(set(row.buckets)), row.name


def test_every_label_has_few_values():
    assert {label for row in ROWS for label in row.labels} == _FROM_TABLES | set(LABEL_VALUES)


def test_every_row_is_counted_somewhere():
    assert set(REGISTRY) == {row.name for row in ROWS}
