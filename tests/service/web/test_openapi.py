"""Schemathesis sends requests based on the generated OpenAPI document; the service must never respond with 5xx."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.support.serving import Server
from tests.support.soak import amount

from holdfast.service.web.openapi import document
from holdfast.service.web.openapi_texts import TEXTS
from holdfast.wire.endpoints import ENDPOINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.api import Api
from tests.support.guarded_account import SECRETS

CASES = amount(10, 100, "HOLDFAST_TEST_CASES")
# Statuses that are documented for a service without a chain, workflow engine, indexer or bundler.
EXPECTED = {"rpc_error", "workflow_not_configured", "indexer_not_configured", "bundler_not_configured", "not_found"}


@schemathesis.serializer("application/vnd.ipfs.ipns-record")
def as_bytes(_context, value) -> bytes:
    """Serialize IPNS records as raw bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


def test_no_operation_fails_for_any_generated_case(serve: Callable[..., Server]) -> None:
    server = serve(
        MAX_REGISTRATIONS_PER_IP="1000000", MAX_VERIFY_SENDS_PER_IP="1000000", RATE_LIMIT_CODES_PER_IDENTIFIER="1000000"
    )
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 30
    tried = 0
    with server.client() as client:
        for operation in operations:
            tried += exercise(operation, client)
    assert tried >= len(operations)
    assert "request failed" not in server.log.read_text()


def exercise(operation, client: httpx.Client) -> int:
    tried = 0
    modes = st.one_of(
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
    )

    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(modes)
    def one(case) -> None:
        nonlocal tried
        tried += 1
        request = case.as_transport_kwargs(base_url=str(client.base_url))
        known = {name: request[name] for name in ("json", "params", "headers", "cookies") if request.get(name)}
        try:
            sent = client.build_request(
                request["method"],
                request["url"],
                content=request.get("data"),
                **{k: v for k, v in known.items() if k != "cookies"},
            )
        except (TypeError, ValueError, httpx.InvalidURL, UnicodeError):
            return  # HTTP cannot carry such a request
        try:
            answer = client.send(sent)
        except httpx.LocalProtocolError:
            return  # nor such a header value
        assert answer.status_code < 500 or answer.json()["error"] in EXPECTED, (answer.status_code, answer.text)

    one()
    return tried


def test_the_document_says_that_needed_texts_are_not_empty_and_that_a_module_may_be_missing() -> None:
    paths = json.loads(document(ENDPOINTS))["paths"]
    body = paths["/api/sessions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["did"]["minLength"] == 1
    asked = {parameter["name"]: parameter["schema"] for parameter in paths["/api/balance"]["get"]["parameters"]}
    assert asked["account"]["minLength"] == asked["token"]["minLength"] == 1
    assert "404" in paths["/client/{path}"]["get"]["responses"]


PATHS = json.loads(document(ENDPOINTS))["paths"]
OPERATIONS = [operation for path in PATHS.values() for operation in path.values()]
SCHEMAS = json.loads(document(ENDPOINTS))["components"]["schemas"]


def test_every_operation_has_a_unique_name_a_tag_and_a_description() -> None:
    whole = json.loads(document(ENDPOINTS))
    names = [operation["operationId"] for operation in OPERATIONS]
    assert len(names) == len(set(names)) == len(ENDPOINTS)
    assert {operation["tags"][0] for operation in OPERATIONS} == {tag["name"] for tag in whole["tags"]}
    assert all(operation["description"].endswith(".") for operation in OPERATIONS)
    assert set(TEXTS) == {endpoint.name for endpoint in ENDPOINTS}
    assert whole["servers"] and whole["info"]["description"] and whole["info"]["license"]


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that has a type, however deep."""
    if isinstance(value, dict) and "type" in value:
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from schemas_in(each)


def test_every_list_says_what_it_contains() -> None:
    """tests/peers/test_generated_clients.py runs the generators, which refuse anything else."""
    lists = [each for each in schemas_in(json.loads(document(ENDPOINTS))) if each["type"] == "array"]
    assert lists and all("items" in each or "prefixItems" in each for each in lists)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation["operationId"])
def test_every_example_has_the_form_that_its_schema_says(operation: dict[str, Any]) -> None:
    for response in operation["responses"].values():
        for content in response.get("content", {}).values():
            if "example" in content:
                jsonschema.validate(content["example"], {**content["schema"], "components": {"schemas": SCHEMAS}})
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if "example" in content:
            jsonschema.validate(content["example"], content["schema"])


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation["operationId"])
def test_errors_are_enumerations(operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if int(status) < 400:
            continue
        ((media, content),) = response["content"].items()
        if media == "application/json":
            error = content["schema"]["properties"]["error"]
            listed = error["enum"] if "enum" in error else error["properties"]["reason"]["enum"]
            assert listed and len(listed) == len(set(listed))


async def test_every_example_can_be_sent(make_api: Callable[..., Api]) -> None:
    """In the order of a registration; a request to the chain gets the documented error of a service without one."""
    api = make_api(secrets=SECRETS)
    for endpoint in sorted(ENDPOINTS, key=lambda each: each.method != "POST"):
        text = TEXTS[endpoint.name]
        if text.response is None or not endpoint.path.startswith("/api/") or endpoint.of_snapshots:
            continue
        request = dict(text.request)
        if endpoint.name == "check_code":
            request["code"] = api.mailer.sent[-1][1]
        send = api.post if endpoint.method == "POST" else api.get
        answer = await send(endpoint.path.replace("{chain_id}", "84532"), **request)
        if endpoint.name in WITHOUT_A_CHAIN:
            assert answer.json()["error"] in EXPECTED
            continue
        assert answer.status_code == endpoint.status, (endpoint.name, answer.text)
        assert form_of(answer.json()) == form_of(text.response), endpoint.name


WITHOUT_A_CHAIN = {
    "bundler",
    "bundler_of_chain",
    "paymaster",
    "predict_address",
    "account_state",
    "account_state_on_chain",
    "balance",
}


def form_of(value: Any) -> Any:
    """Return a JSON value with the kind of each leaf; the kind of a missing value is not compared."""
    if isinstance(value, dict):
        return {name: form_of(each) for name, each in value.items()}
    return "value" if value is None or not isinstance(value, bool) else bool
