"""A service that names an address of the person's own network is not followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.client.http.named_endpoint import endpoint_named

VECTORS = Path(__file__).resolve().parents[3] / "vectors" / "service" / "named_endpoints.json"
CASES = json.loads(VECTORS.read_text("utf-8"))


@pytest.mark.parametrize("case", CASES["used"], ids=lambda it: it["named"])
def test_names_and_the_services_own_machine_are_used(case):
    assert endpoint_named(**case) == case["named"]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda it: it["named"] or "none")
def test_other_addresses_are_not(case):
    assert endpoint_named(**case) is None


def test_a_service_may_name_none():
    assert endpoint_named(None, "https://vault.example") is None
