"""/openapi.json: the declared endpoints as an OpenAPI document. `openapi_page.py` makes a page of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import __version__
from holdfast.rules.resolution import RESULT, result_of
from holdfast.service.web.openapi_examples import EXAMPLES, IDEMPOTENCY_KEY, NO_EXAMPLE
from holdfast.service.web.openapi_texts import INFO, TAGS, TEXTS
from holdfast.wire.endpoints import ErrorForm
from holdfast.wire.errors import ErrorRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.wire import models
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.failures import FailureRow
    from holdfast.wire.requests import Input

_REFERENCE = "#/components/schemas/{name}"
_OK = 200
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Names the request: the same request again with the same name gets the first answer for 24 hours.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,128}$"},
    "example": IDEMPOTENCY_KEY,
}
_JSON, _FORM = "application/json", "multipart/form-data"
_BINARY = {"type": "string", "format": "binary"}
_BEARER = "vault"
_BEARER_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "a UCAN 1.0 invocation by the vault's key, in a container that begins with C",
}


def document(endpoints: Sequence[Endpoint[Input]]) -> bytes:
    """Return the OpenAPI 3.1 document."""
    answers = {answer for endpoint in endpoints for answer in endpoint.answers}
    _, components = msgspec.json.schema_components(
        sorted(answers, key=lambda answer: answer.__name__), ref_template=_REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _describe(endpoint)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Holdfast",
                "version": __version__,
                "description": INFO,
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "this service"}],
            "security": [],
            "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
            "paths": paths,
            "components": {"schemas": components, "securitySchemes": {_BEARER: _BEARER_SCHEME}},
        }
    )


def fields(declared: type[Input] | None) -> list[tuple[str, bool, dict[str, Any]]]:
    """Return the name and the schema of each field, and whether it is required; a field may have alternative names.

    If a field has alternative names, none of its names is required.
    """
    if declared is None:
        return []
    schemas = msgspec.json.schema(declared)["$defs"][declared.__name__]["properties"]
    found = []
    for field in msgspec.structs.fields(declared):
        others = declared.OTHER_NAMES.get(field.name, ())
        schema = _plain(schemas[field.encode_name])
        if field.required and schema.get("type") == "string":
            schema["minLength"] = 1  # an empty text counts as absent
        found += [(name, field.required and not others, schema) for name in (field.encode_name, *others)]
    return found


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a field's schema without the alternative `null`, which only means that the field may be absent."""
    choices = [choice for choice in schema.get("anyOf", [schema]) if choice.get("type") != "null"]
    plain = {name: value for name, value in choices[0].items() if name != "default"}
    # A generator of clients refuses a list whose elements have no schema.
    return plain | {"items": {}} if plain.get("type") == "array" and "items" not in plain else plain


def _describe(endpoint: Endpoint[Input]) -> dict[str, Any]:
    text = TEXTS[endpoint.name]
    described: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [text.tag],
        "summary": endpoint.summary,
        "description": text.about,
        "responses": _responses(endpoint),
    }
    parameters = _parameters(endpoint)
    if parameters:
        described["parameters"] = parameters
    if content := _taken(endpoint):
        example = _body_example(endpoint)
        described["requestBody"] = {"required": True, "content": {endpoint.takes: {"schema": content, **example}}}
    if endpoint.errors_as is ErrorForm.FAILURE:
        described["security"] = [{_BEARER: []}]
    return described


def _body_example(endpoint: Endpoint[Input]) -> dict[str, Any]:
    named = EXAMPLES.get(endpoint.name, NO_EXAMPLE).request
    body = {name: value for name, value in named.items() if name not in endpoint.path_parameters}
    return {"example": body} if body and not endpoint.in_query else {}


def _taken(endpoint: Endpoint[Input]) -> dict[str, Any] | None:
    """Return the schema of the request's body; None if the endpoint takes no body."""
    if endpoint.takes == _FORM:
        return {"type": "object", "properties": {"file": _BINARY}, "required": ["file"]}
    if endpoint.takes != _JSON:
        return _BINARY
    return _body(endpoint.input) if endpoint.input and not endpoint.in_query else None


def _parameters(endpoint: Endpoint[Input]) -> list[dict[str, Any]]:
    named = fields(endpoint.input) if endpoint.in_query else []
    examples = EXAMPLES.get(endpoint.name, NO_EXAMPLE).request
    text = {"type": "string"}
    found: list[dict[str, Any]] = [
        {"name": name, "in": "query", "required": needed, "schema": schema} for name, needed, schema in named
    ]
    found += [{"name": name, "in": "path", "required": True, "schema": text} for name in endpoint.path_parameters]
    shown = [each | ({"example": examples[each["name"]]} if each["name"] in examples else {}) for each in found]
    return [*shown, _IDEMPOTENCY_KEY] if endpoint.keyed else shown


def _body(declared: type[Input]) -> dict[str, Any]:
    named = fields(declared)
    return {
        "type": "object",
        "properties": {name: schema for name, _, schema in named},
        "required": [name for name, needed, _ in named if needed],
    }


def _reference(answer: type[models.Answer]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=answer.__name__)}


def _error(form: ErrorForm, rows: Sequence[ErrorRow | FailureRow]) -> dict[str, Any]:
    """Return the content of an error response, whose texts for programs are an enumeration."""
    texts = list(dict.fromkeys(row.error if isinstance(row, ErrorRow) else row.reason for row in rows))
    if form is ErrorForm.TEXT:
        return {"text/plain": {"schema": {"type": "string"}, "example": _sentence(rows[0])}}
    if form is ErrorForm.RESOLUTION:
        example = result_of(None, error=texts[0], message=_sentence(rows[0]))
        return {RESULT: {"schema": _object({name: {} for name in example}, *example), "example": example}}
    named = _object({"error": {"type": "string", "enum": texts}}, "error")
    if form is ErrorForm.HOLDFAST:
        return {_JSON: {"schema": named, "example": {"error": texts[0]}}}
    reason = _object({"reason": {"type": "string", "enum": texts}, "details": {"type": "string"}}, "reason", "details")
    fields_ = {"error": reason, "Message": {"type": "string"}, "Code": {"type": "integer"}, "Type": {"type": "string"}}
    said = _sentence(rows[0])
    example = {"error": {"reason": texts[0], "details": said}, "Message": said, "Code": 0, "Type": "error"}
    return {_JSON: {"schema": _object(fields_, *fields_), "example": example}}


def _file(media: str) -> dict[str, Any]:
    """Return the schema of a response that is not one of the interface's JSON shapes."""
    if media in {_JSON, RESULT}:
        return {}
    return {"type": "string"} if media.startswith("text/") else _BINARY


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _sentence(row: ErrorRow | FailureRow) -> str:
    return row.error if isinstance(row, ErrorRow) else row.details


def _responses(endpoint: Endpoint[Input]) -> dict[str, Any]:
    references = [_reference(answer) for answer in endpoint.answers]
    schema = references[0] if len(references) == 1 else {"anyOf": references} if references else _file(endpoint.media)
    responses: dict[str, Any] = {str(endpoint.status): {"description": endpoint.summary}}
    if endpoint.status == _OK or endpoint.answers:
        example = EXAMPLES.get(endpoint.name, NO_EXAMPLE).response
        shown = {} if example is None else {"example": example}
        responses[str(endpoint.status)]["content"] = {endpoint.media: {"schema": schema, **shown}}
    by_status: dict[int, list[ErrorRow | FailureRow]] = {}
    rows: tuple[ErrorRow | FailureRow, ...] = (*endpoint.errors, *endpoint.failures)
    for row in rows:
        by_status.setdefault(row.status, []).append(row)
    for status, these in sorted(by_status.items()):
        said = " | ".join(dict.fromkeys(_sentence(row) for row in these))
        responses[str(status)] = {"description": said, "content": _error(endpoint.errors_as, these)}
    return responses
