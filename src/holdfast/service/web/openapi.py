"""/openapi.json and /docs, generated from the route table and the same structs that the answers are made of."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast import __version__
from holdfast.wire import models

if TYPE_CHECKING:
    from holdfast.wire.errors import ErrorRow


_REFERENCE = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class Operation:
    """What the documentation says of one method on one path.

    Attributes:
        summary: one line.
        answer: structs that the 200 body may be, none where it is no JSON of ours.
        query: parameters by name, required or not.
        body: fields of the JSON body by name: JSON type and whether it is required.
        errors: rows that this operation can refuse with, beside those that every request may meet.
        media: content type of the 200 body.
    """

    summary: str
    answer: tuple[type[models.Answer], ...] = ()
    query: dict[str, bool] = field(default_factory=dict)
    body: dict[str, tuple[str, bool]] = field(default_factory=dict)
    errors: tuple[ErrorRow, ...] = ()
    media: str = "application/json"
    status: int = 200


def document() -> bytes:
    """The OpenAPI 3.1 document."""
    from holdfast.service.web.operations_table import OPERATIONS

    answers = {answer for operation in OPERATIONS.values() for answer in operation.answer}
    _, components = msgspec.json.schema_components(
        sorted([*answers, models.ErrorBody], key=lambda answer: answer.__name__), ref_template=_REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    for (method, path), operation in OPERATIONS.items():
        paths.setdefault(path, {})[method.lower()] = _describe(operation, path)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "Holdfast", "version": __version__},
            "paths": paths,
            "components": {"schemas": components},
        }
    )


def page() -> bytes:
    """The same facts as a page for people, without scripts."""
    from holdfast.service.web.operations_table import OPERATIONS

    rows = "".join(
        f"<tr><td>{method}</td><td><code>{html.escape(path)}</code></td><td>{html.escape(operation.summary)}</td>"
        f"<td>{html.escape(_inputs(operation))}</td></tr>"
        for (method, path), operation in OPERATIONS.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdfast HTTP interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/pay/confirm.css"></head><body><main><h1>Holdfast HTTP interface</h1>'
        f'<p>Version {__version__}. For machines: <a href="/openapi.json">/openapi.json</a>.</p>'
        f"<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th><th>Takes</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></main></body></html>"
    ).encode()


def _inputs(operation: Operation) -> str:
    names = [name + ("" if needed else "?") for name, needed in operation.query.items()]
    names += [name + ("" if needed else "?") for name, (_, needed) in operation.body.items()]
    return ", ".join(names)


def _describe(operation: Operation, path: str) -> dict[str, Any]:
    described: dict[str, Any] = {"summary": operation.summary, "responses": _responses(operation)}
    parameters = [
        {"name": name, "in": "query", "required": needed, "schema": {"type": "string"}}
        for name, needed in operation.query.items()
    ]
    if "{path}" in path:
        parameters.append({"name": "path", "in": "path", "required": True, "schema": {"type": "string"}})
    if parameters:
        described["parameters"] = parameters
    if operation.body:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(operation)}}}
    return described


def _reference(answer: type[models.Answer]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=answer.__name__)}


def _body(operation: Operation) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, (kind, _) in operation.body.items()},
        "required": [name for name, (_, needed) in operation.body.items() if needed],
    }


def _responses(operation: Operation) -> dict[str, Any]:
    references = [_reference(answer) for answer in operation.answer]
    schema = references[0] if len(references) == 1 else {"anyOf": references} if references else {}
    responses: dict[str, Any] = {str(operation.status): {"description": "answer"}}
    if operation.status == 200:  # noqa: PLR2004 - the only status with a body of its own
        responses["200"]["content"] = {operation.media: {"schema": schema}}
    by_status: dict[int, list[str]] = {}
    for row in operation.errors:
        by_status.setdefault(row.status, []).append(row.error)
    error = {"application/json": {"schema": _reference(models.ErrorBody)}}
    for status, texts in sorted(by_status.items()):
        responses[str(status)] = {"description": " | ".join(dict.fromkeys(texts)), "content": error}
    return responses
