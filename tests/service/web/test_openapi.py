"""Schemathesis sends requests based on the generated OpenAPI document; the service must never respond with 5xx."""

import json
import os

import httpx2
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.support.guarded_account import SECRETS

from holdfast.service.web.openapi import document
from holdfast.service.web.openapi_examples import EXAMPLES
from holdfast.service.web.openapi_texts import TEXTS
from holdfast.wire.endpoints import ENDPOINTS, ErrorForm

CASES = int(os.environ.get("HOLDFAST_TEST_CASES", "100"))
# Statuses that are documented for a service without a chain, workflow engine, indexer or bundler.
WITHOUT = ("workflow_not_configured", "indexer_not_configured", "bundler_not_configured")
EXPECTED = {"rpc_error", "internalError", "not_found", *WITHOUT}


@schemathesis.serializer("application/vnd.ipfs.ipns-record")
def as_bytes(_context, value):
    """Serialize IPNS records as raw bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.mark.soak  # in the gate, test_odd_requests.py and test_every_request.py send odd requests
def test_no_operation_fails_for_any_generated_case(serve):
    server = serve(
        MAX_REGISTRATIONS_PER_IP="1000000", MAX_VERIFY_SENDS_PER_IP="1000000", RATE_LIMIT_CODES_PER_IDENTIFIER="1000000"
    )
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 30
    with server.client() as client:
        for operation in operations:
            exercise(operation, client)
    assert "request failed" not in server.log.read_text()


def exercise(operation, client):
    modes = st.one_of(
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
    )

    @settings(max_examples=CASES, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(modes)
    def one(case):
        request = case.as_transport_kwargs(base_url=str(client.base_url))
        known = {name: request[name] for name in ("json", "params", "headers") if request.get(name)}
        try:
            answer = client.request(request["method"], request["url"], content=request.get("data"), **known)
        except (TypeError, ValueError, httpx2.InvalidURL, UnicodeError, httpx2.LocalProtocolError):
            return  # HTTP cannot carry such a request
        errors = answer.json() if answer.status_code >= 500 else {}
        error = errors.get("error") or errors.get("didResolutionMetadata", {}).get("error")
        assert answer.status_code < 500 or error in EXPECTED, (answer.status_code, answer.text)

    one()


PATHS = json.loads(document(ENDPOINTS))["paths"]
TEXT = "text/plain"
OPERATIONS = [operation for path in PATHS.values() for operation in path.values()]
BY_NAME = {operation["operationId"]: operation for operation in OPERATIONS}
SCHEMAS = json.loads(document(ENDPOINTS))["components"]["schemas"]


def test_every_operation_is_described_with_examples_of_its_schema():
    whole = json.loads(document(ENDPOINTS))
    names = [operation["operationId"] for operation in OPERATIONS]
    assert len(names) == len(set(names)) == len(ENDPOINTS)
    assert {operation["tags"][0] for operation in OPERATIONS} == {tag["name"] for tag in whole["tags"]}
    assert all(operation["description"].endswith(".") for operation in OPERATIONS)
    assert set(TEXTS) == {endpoint.name for endpoint in ENDPOINTS}
    asked = PATHS["/api/sessions"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert asked["did"]["minLength"] == 1 and "404" in PATHS["/client/{path}"]["get"]["responses"]
    assert whole["servers"] and whole["info"]["description"] and whole["info"]["license"]
    responses = [pair for operation in OPERATIONS for pair in operation["responses"].items()]
    for response in [response for status, response in responses if int(status) >= 400]:
        ((media, content),) = response["content"].items()
        if media == "application/json":
            error = content["schema"]["properties"]["error"]
            listed = error["enum"] if "enum" in error else error["properties"]["reason"]["enum"]
            assert listed and len(listed) == len(set(listed))
    for operation in OPERATIONS:
        name, parameters = operation["operationId"], operation.get("parameters", [])
        for media, content in contents_of(operation):
            assert "example" in content or ("json" not in media and media != TEXT), name
        for parameter in parameters:
            assert "example" in parameter or (parameter["in"] == "query" and not parameter["required"]), name
        for part in [*parameters, *(content for _, content in contents_of(operation))]:
            if "example" in part:
                jsonschema.validate(part["example"], {**part["schema"], "components": {"schemas": SCHEMAS}})


def contents_of(operation):
    """Return what an operation takes and returns, by media type."""
    parts = [operation.get("requestBody", {}), *operation["responses"].values()]
    return [content for part in parts for content in part.get("content", {}).items()]


async def test_every_example_can_be_sent(make_api):
    """In the order of a registration; where it needs more than a fresh service, the error is the documented one."""
    api = make_api(secrets=SECRETS)
    for endpoint in sorted(ENDPOINTS, key=lambda each: each.method != "POST"):
        example = EXAMPLES.get(endpoint.name)
        if example is None or not endpoint.path.startswith("/api/") or endpoint.errors_as is not ErrorForm.HOLDFAST:
            continue
        request = dict(example.request)
        path = endpoint.path.format(**{name: request.pop(name) for name in endpoint.path_parameters})
        if endpoint.name == "check_code":
            request["code"] = api.mailer.sent[-1][1]
        sent = {"params" if endpoint.in_query else "json": request}
        answer = await api.http.request(endpoint.method, path, **sent)
        if endpoint.name in ON_A_FRESH_SERVICE:
            assert answer.json().get("error") in {*EXPECTED, *ON_A_FRESH_SERVICE[endpoint.name]}, answer.text
            assert answer.status_code < 400 or str(answer.status_code) in BY_NAME[endpoint.name]["responses"]
            continue
        assert answer.status_code == endpoint.status, (endpoint.name, answer.text)
        assert form_of(answer.json()) == form_of(example.response), endpoint.name


# The documented errors, besides EXPECTED, of a service without a chain, an indexer and recoveries.
UNREACHABLE = """bundler bundler_of_chain paymaster predict_address account_state account_state_on_chain balance
    indexer workflow register_workflow run_workflow"""
ON_A_FRESH_SERVICE = dict.fromkeys(UNREACHABLE.split(), ()) | {
    "ask_recovery": ("recovery_not_possible",),
    "check_recovery": (None,),  # 200 and `verified: false`
    "name_of_snapshots": (None,),  # 200 and `found: false`
    "sign_recovery": ("recovery_not_found",),
}


def form_of(value):
    """Return a JSON value with the kind of each leaf; the kind of a missing value is not compared."""
    if isinstance(value, dict):
        return {name: form_of(each) for name, each in value.items()}
    return "value" if value is None or not isinstance(value, bool) else bool
