"""The admin port's OpenAPI document has every task; each example is sent, and answered as the document says."""

import json

import jsonschema

from holdfast.service.web.admin_openapi import EXAMPLES, admin_document
from holdfast.wire.admin_endpoints import ADMIN_DOCUMENT, ADMIN_ENDPOINTS

DOCUMENT = json.loads(admin_document())
OPERATIONS = {
    (method.upper(), path): described for path, by in DOCUMENT["paths"].items() for method, described in by.items()
}


def test_every_task_is_in_the_document_with_examples_of_its_schema():
    assert {key: it["operationId"] for key, it in OPERATIONS.items()} == {it.key: it.name for it in ADMIN_ENDPOINTS}
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert set(EXAMPLES) == {it.name for it in ADMIN_ENDPOINTS}
    for (method, _), described in OPERATIONS.items():
        if method == "POST":
            fields, examples = {}, [*described["requestBody"]["content"].values()]
        else:
            fields = {field["name"]: field for field in described["parameters"]}
            examples = [field for field in fields.values() if "example" in field]
            assert set(EXAMPLES[described["operationId"]][0]) <= set(fields)
            assert ("format" in fields) is ("text/csv" in described["responses"]["200"]["content"])
        for each in examples:
            jsonschema.validate(each["example"], each["schema"])


async def test_each_example_is_answered_as_the_document_says(port):
    """The examples in the order of the table are an operator's day, for which these people and codes exist."""
    for n, name in enumerate(("ann", "bob", "carl")):
        assert (await port.api.session(name, did=f"did:new:0x{n}", ip=f"192.0.2.{n}")).status_code == 200
    assert (await port.api.register(credentialId="Y2Fybg", identifier="carl", did="did:new:0x2")).status_code == 200
    for (method, path), described in OPERATIONS.items():
        sent = dict(EXAMPLES[described["operationId"]][0])
        if "code" in sent:
            sent["code"] = (await port.post("invitations", uses=2))["code"]
        query = "&".join(f"{name}={value}" for name, value in sent.items()) if method == "GET" else ""
        status, found, _ = await port.ask(method, path, port.held["eva"], sent, query)
        assert status == 200, (path, found)
        content = described["responses"]["200"]["content"]["application/json"]
        for answered in (content["example"], found):
            jsonschema.validate(answered, content["schema"])
        assert set(found) >= set(content["example"])


async def test_the_document_needs_no_key_is_no_page_and_enumerates_errors(port):
    status, found, headers = await port.ask("GET", ADMIN_DOCUMENT)
    assert (status, found) == (200, DOCUMENT)
    assert headers["x-content-type-options"] == "nosniff"
    for described in OPERATIONS.values():
        told = {
            status: response["content"]["application/json"]["schema"]["properties"]["error"]["enum"]
            for status, response in described["responses"].items() if status in {"401", "403"}
        }  # fmt: skip
        assert told["401"] == ["admin_key_refused"] and "admin_scope_missing" in told["403"]
