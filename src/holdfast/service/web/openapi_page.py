"""/docs: the OpenAPI document as a page, readable without its script, which sends a reader's requests."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_JSON = "application/json"
_AUTHORIZATION = {"name": "Authorization", "in": "header", "required": True, "example": "Bearer …"}


def page(document: bytes) -> bytes:
    """Return the page for an OpenAPI document."""
    described = json.loads(document)
    rooms = "".join(_room(described, tag) for tag in described["tags"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdfast HTTP interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/pay/confirm.css"><script type="module" src="/docs.js"></script></head>'
        "<body><main><h1>Holdfast HTTP interface</h1>"
        f'<p>Version {described["info"]["version"]}. For machines: <a href="/openapi.json">/openapi.json</a>.</p>'
        f"{rooms}</main></body></html>"
    ).encode()


def _room(described: Mapping[str, Any], tag: Mapping[str, str]) -> str:
    operations = "".join(_operation(*each) for each in _operations(described) if each[2]["tags"] == [tag["name"]])
    return f"<section><h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>{operations}</section>"


def _operations(described: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    answers = "".join(_answer(status, each) for status, each in operation["responses"].items())
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><code>{method} {escape(path)}</code> '
        f"{escape(operation['summary'])}</summary><p>{escape(operation['description'])}</p>"
        f"{_form(method, path, operation)}<dl>{answers}</dl></details>"
    )


def _form(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Return the form that sends a request; no form for a body that is not JSON."""
    takes, content = _first(operation.get("requestBody", {}))
    if takes not in {"", _JSON}:
        return f"<p>Takes <code>{escape(takes)}</code>.</p>"
    parameters = [*operation.get("parameters", []), *([_AUTHORIZATION] if "security" in operation else [])]
    fields = "".join(_field(operation["operationId"], each) for each in parameters)
    return (
        f'<form hidden data-method="{method}" data-path="{escape(path)}" data-takes="{takes}">{fields}'
        f"{_body(content) if takes else ''}<p><button>Send</button></p><pre><output></output></pre></form>"
    )


def _field(operation: str, parameter: Mapping[str, Any]) -> str:
    name, required = escape(parameter["name"]), " required" if parameter["required"] else ""
    key, example = f"{operation}-{name}", escape(str(parameter.get("example", "")))
    # Sent twice, an optional header would mean the same request again.
    shown = "placeholder" if parameter["in"] == "header" and not required else "value"
    return (
        f'<label for="{key}">{name}</label>'
        f'<input id="{key}" name="{name}" data-in="{parameter["in"]}" {shown}="{example}"{required}>'
    )


def _body(content: Mapping[str, Any]) -> str:
    example = json.dumps(content.get("example", {}), indent=2, ensure_ascii=False)
    rows = example.count("\n") + 1
    return f'<label>Body<textarea name="body" rows="{rows}" spellcheck="false">{escape(example)}</textarea></label>'


def _answer(status: str, response: Mapping[str, Any]) -> str:
    media, content = _first(response)
    example = content.get("example")
    text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
    shown = f"<pre>{escape(text)}</pre>" if example else ""
    about = escape(response["description"].replace(" | ", " · "))
    return f"<div><dt>{status}</dt><dd>{about}<small>{escape(media)}</small>{shown}</dd></div>"


def _first(described: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the first media type of a body and what is said of it; an empty one if there is no body."""
    found: dict[str, dict[str, Any]] = described.get("content", {})
    return next(iter(found.items()), ("", {}))
