"""The admin port's /openapi.json: the declared tasks of operators, with an example of each request and response."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast import __version__
from holdfast.wire.admin_endpoints import (
    ADMIN_ENDPOINTS,
    ADMIN_HOST_UNKNOWN,
    ADMIN_KEY_REFUSED,
    ADMIN_SCOPE_MISSING,
    API,
    AdminEndpoint,
)
from holdfast.wire.errors import (
    BODY_TOO_LARGE,
    DATABASE_UNAVAILABLE,
    FOREIGN_PAGE,
    INTERNAL_ERROR,
    RATE_LIMITED,
    SERVICE_BUSY,
)

_JSON, _CSV, _KEY = "application/json", "text/csv", "key"
_ERRORS = (
    ADMIN_KEY_REFUSED, ADMIN_SCOPE_MISSING, ADMIN_HOST_UNKNOWN, FOREIGN_PAGE, BODY_TOO_LARGE, RATE_LIMITED,
    INTERNAL_ERROR, DATABASE_UNAVAILABLE, SERVICE_BUSY,
)  # fmt: skip
_DID, _OTHER_DID = "did:new:0x" + "1c" * 32, "did:new:0x" + "2d" * 32
_TIME, _LATER, _NUMBER, _CODE = "2026-11-23T12:00:00+00:00", "2026-12-07T12:00:00+00:00", "5f8a1f0e", "k7Qm2ZpV9s"
_MAY_BE_NULL = frozenset({"after", "registered_at", "revoked_at"})


def _page(row: dict[str, Any]) -> dict[str, Any]:
    return {"rows": [row], "after": None}


_INVITED = {
    "code": _CODE, "address": f"https://vault.example/?invitation={_CODE}", "uses": 3, "days": 14, "number": _NUMBER,
}  # fmt: skip
_ANN = {"identifier": "ann", "channel": "handle"}
# What is sent, and what is returned; a test sends each.
EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "identifiers": (
        {"prefix": "an", "limit": 50},
        _page({
            **_ANN, "did": _DID, "state": "registered", "confirmed": 1, "pending": 0, "created_at": _TIME,
            "registered_at": _TIME,
        }),
    ),
    "counts": ({"days": 7}, _page({"day": "2026-11-23", "channel": "handle", "claimed": 12, "registered": 9})),
    "identifier": (_ANN, {"claim": {}, "credentials": [], "history": []}),
    "release": ({"identifier": "bob", "channel": "handle"}, {"released": True}),
    "transfer": ({**_ANN, "did": _OTHER_DID}, {"transferred": True}),
    "rename": ({"identifier": "ann", "new": "anna"}, {"renamed": True}),
    "revoke_credential": ({"credentialId": "Y2Fybg"}, {"revoked": True}),
    "bans": ({"limit": 50}, _page({"subject": "handle:carl", "at": _TIME, "reason": "spam"})),
    "ban": (
        {"kind": "name", "value": "carl", "channel": "handle", "reason": "spam"},
        {"subject": "handle:carl", "banned": True},
    ),
    "lift": ({"kind": "name", "value": "carl", "channel": "handle"}, {"subject": "handle:carl", "lifted": True}),
    "invitations": (
        {"limit": 50},
        _page({
            "number": _NUMBER, "uses": 3, "left": 2, "made_at": _TIME, "expires_at": _LATER, "revoked_at": None,
        }),
    ),
    "invite": ({"uses": 3, "days": 14}, _INVITED),
    "revoke_invitation": ({"code": _CODE}, {"left": 2, "expires_at": _LATER}),
    "reissue_invitation": ({"code": _CODE, "days": 14}, _INVITED),
    "export_person": (
        {"person": "anna", "channel": "handle"},
        {"did": _OTHER_DID, "exportedAt": _TIME, "identifiers": [], "credentials": [], "audit": []},
    ),
    "erase_person": (
        {"person": "anna", "channel": "handle"},
        {"did": _OTHER_DID, "identifiers": 1, "credentials": 0, "snapshots": 0, "pins": 0},
    ),
    "acts": ({"limit": 50}, _page({
        "id": "5f" * 16, "at": _TIME, "operator": "key:eva", "action": "banned", "channel": "", "key": "handle:carl",
    })),
}  # fmt: skip


def admin_document() -> bytes:
    """Return the OpenAPI 3.1 document."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ADMIN_ENDPOINTS:
        paths.setdefault(API + endpoint.path, {})[endpoint.method.lower()] = _described(endpoint)
    about = "What operators do, each with a key of a scope (`holdfast admin-key`), which the audit names."
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Holdfast, admin port",
                "version": __version__,
                "description": about,
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "this service"}],
            "security": [{_KEY: []}],
            "paths": paths,
            "components": {"securitySchemes": {_KEY: {"type": "http", "scheme": "bearer"}}},
        }
    )


def _described(endpoint: AdminEndpoint) -> dict[str, Any]:
    request, response = EXAMPLES[endpoint.name]
    schema = msgspec.json.schema(endpoint.input)["$defs"][endpoint.input.__name__]
    content: dict[str, Any] = {_JSON: {"schema": _schema(response), "example": response}}
    if endpoint.lists:
        content[_CSV] = {"schema": {"type": "string"}}
    described = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"{schema.pop('description', '')} Scope of the key: {endpoint.scope.value}.".lstrip(),
        "responses": {"200": {"description": endpoint.summary, "content": content}, **_errors()},
    }
    if endpoint.method == "GET":
        return {**described, "parameters": _parameters(schema, request, lists=endpoint.lists)}
    return {**described, "requestBody": {"required": True, "content": {_JSON: {"schema": schema, "example": request}}}}


def _parameters(schema: dict[str, Any], request: dict[str, Any], *, lists: bool) -> list[dict[str, Any]]:
    fields = {**schema["properties"], **({"format": {"enum": ["json", "csv"], "default": "json"}} if lists else {})}
    needed = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": of}
        | ({"example": request[name]} if name in request else {})
        for name, of in fields.items()
    ]


def _errors() -> dict[str, Any]:
    sentence = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    found: dict[str, Any] = {
        status: {"description": about, "content": {_JSON: {"schema": sentence, "example": {"error": about}}}}
        for status, about in (("400", "a field is wrong"), ("404", "no such thing, or its state does not permit this"))
    }
    for status in sorted({row.status for row in _ERRORS}):
        texts = [row.error for row in _ERRORS if row.status == status]
        schema = {**sentence, "properties": {"error": {"type": "string", "enum": texts}}}
        content = {_JSON: {"schema": schema, "example": {"error": texts[0]}}}
        found[str(status)] = {"description": " | ".join(texts), "content": content}
    return found


def _schema(example: Any, name: str = "") -> dict[str, Any]:
    """Return the schema of a response like this one, which may have more fields."""
    if isinstance(example, dict):
        properties = {field: _schema(value, field) for field, value in example.items()}
        return {"type": "object", "properties": properties, "required": [*example]}
    if isinstance(example, list):
        return {"type": "array", "items": _schema(example[0]) if example else {}}
    kind = {bool: "boolean", int: "integer"}.get(type(example), "string")
    return {"type": [kind, "null"] if name in _MAY_BE_NULL else kind}
