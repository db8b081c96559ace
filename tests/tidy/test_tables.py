"""The project's tables match those of the interface, and the documentation contains both."""

import json
from pathlib import Path

import msgspec
import pytest

from holdfast.rules import limits
from holdfast.wire import models
from holdfast.wire.endpoints import ENDPOINTS
from holdfast.wire.errors import ERRORS, ErrorRow

ROOT = Path(__file__).resolve().parents[2]
BY_KEY = {endpoint.key: endpoint for endpoint in ENDPOINTS}


def table(name):
    return json.loads((ROOT / "interface" / f"{name}.json").read_text("utf-8"))


def test_every_error_of_the_interface_is_a_row_of_ours():
    documented = {ErrorRow(row["status"], row["error"]) for row in table("errors")["rows"]}
    assert documented <= set(ERRORS.values())
    source = (ROOT / "src/holdfast/wire/errors.py").read_text("utf-8")
    fixed = source.split("rows that the interface leaves open")[0]
    ours = {row for name, row in ERRORS.items() if f"\n{name} = " in fixed}
    assert ours == documented


@pytest.mark.parametrize("row", table("errors")["rows"], ids=lambda row: f"{row['endpoint']} {row['error'][:30]}")
def test_each_endpoint_declares_its_errors(row):
    method, _, path = row["endpoint"].partition(" ")
    assert ErrorRow(row["status"], row["error"]) in BY_KEY[method, path].errors


def test_every_limit_of_the_interface_is_ours():
    documented = {row["name"]: row["value"] for row in table("limits")["rows"]}
    assert {name: getattr(limits, name) for name in documented} == documented
    assert set(limits.LIMIT_NAMES) == set(documented)
    assert {name.upper(): value for name, value in msgspec.to_builtins(limits.Limits()).items()} == documented


def test_every_route_of_the_interface_is_ours():
    assert {(row["method"], row["path"]) for row in table("routes")["rows"]} <= set(BY_KEY)


@pytest.mark.parametrize(
    ("name", "fields"), table("answers")["shapes"].items(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_answer_has_the_documented_wire_names_in_order(name, fields):
    struct = getattr(models, name)
    assert [field.encode_name for field in msgspec.structs.fields(struct)] == list(fields)


# Response types of endpoints that the interface does not describe.
OWN_ANSWERS = {
    "AddressAdded", "PersonExport", "PersonRemoved", "RecoveryCodeSent", "RecoveryConfirmed", "RecoverySigned",
    "RecoveryStopped", "RecoveryTerms", "RelatedOrigins", "ServedChain", "ServedChains", "SnapshotName",
}  # fmt: skip


def test_no_answer_is_missing_from_the_table():
    ours = {
        name for name, value in vars(models).items() if isinstance(value, type) and issubclass(value, models.Answer)
    } - {"Answer"}
    assert ours - OWN_ANSWERS == set(table("answers")["shapes"])
    assert ours >= OWN_ANSWERS


def test_every_error_row_is_documented():
    text = (ROOT / "docs/http.md").read_text("utf-8")
    assert [row.error for row in ERRORS.values() if row.error not in text] == []
