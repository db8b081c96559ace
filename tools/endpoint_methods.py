"""Write client/endpoint_methods.py from holdfast/wire/endpoints.py: one method for each endpoint that programs call.

Some endpoints have a handwritten method in client/async_service_client.py, because their fields or responses need more
than the declaration says.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from holdfast.client.http.refusals import refusal_class
from holdfast.client.types import service
from holdfast.wire import endpoints, errors, models

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "src/holdfast/client"
FILE = CLIENT / "endpoint_methods.py"
BY_HAND = CLIENT / "async_service_client.py"
_NOT_ITS_OWN = (errors.INTERNAL_ERROR, errors.DATABASE_UNAVAILABLE, errors.BODY_TOO_LARGE, errors.REQUEST_TIMEOUT)

_HEAD = '''"""One method for each endpoint of the service that programs call.

Written by `tools/endpoint_methods.py` from the declarations in `holdfast/wire/endpoints.py`; not edited by hand.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.http.endpoint_calls import EndpointCaller, as_bytes, as_found, as_json, as_text, as_type
from holdfast.client.types import service
from holdfast.wire import endpoints, models, requests


class EndpointMethods(EndpointCaller):
    """The endpoints whose declaration says all that a client needs."""
'''


def source() -> str:
    """Return the module's text, formatted."""
    named = _named_by_hand()
    declared = {name: value for name, value in vars(endpoints).items() if isinstance(value, endpoints.Endpoint)}
    text = _HEAD + "".join(
        method(name, endpoint) for name, endpoint in declared.items() if endpoint.client and name not in named
    )
    return formatted(text, FILE)


def formatted(text: str, file: Path) -> str:
    """Return the text after removing unused imports and formatting it with Ruff."""
    ruff = (Path(sys.executable).parent / "ruff").as_posix()
    for command in (("check", "--select", "I,F401", "--fix", "--quiet"), ("format", "--quiet")):
        arguments = [ruff, *command, "--stdin-filename", str(file), "-"]
        text = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def _named_by_hand() -> set[str]:
    """Return the names of the endpoints that have a handwritten method."""
    nodes = [node for node in ast.walk(ast.parse(BY_HAND.read_text())) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "endpoints"}


def method(name: str, endpoint: endpoints.Endpoint[Any]) -> str:
    """Return the method for the endpoint `name` in `wire/endpoints.py`, with path parameters before other fields."""
    kind, read = _answer(endpoint)
    given = [f"endpoints.{name}", read]
    if endpoint.input:
        fields = ", ".join(f"{field.name}={field.name}" for field in msgspec.structs.fields(endpoint.input))
        given.append(f"requests.{endpoint.input.__name__}({fields})")
    if endpoint.path_parameters:
        given.append("path={" + ", ".join(f'"{name}": {name}' for name in endpoint.path_parameters) + "}")
    return f'''
    async def {endpoint.name}(self{_parameters(endpoint)}) -> {kind}:
        """{_about(endpoint)}"""
        return await self._call({", ".join(given)})
'''


def _parameters(endpoint: endpoints.Endpoint[Any]) -> str:
    fields = msgspec.structs.fields(endpoint.input) if endpoint.input else ()
    annotations = endpoint.input.__annotations__ if endpoint.input else {}
    in_path = "".join(f", {name}: str" for name in endpoint.path_parameters)
    return in_path + "".join(f", {field.name}: {annotations[field.name]}{_default(field)}" for field in fields)


def _default(field: msgspec.structs.FieldInfo) -> str:
    return "" if field.required else f" = {field.default!r}"


def _about(endpoint: endpoints.Endpoint[Any]) -> str:
    """Return the method's docstring: what the method does, and the error classes that only this endpoint raises."""
    about = f"{endpoint.summary}: {endpoint.method} {endpoint.path}."
    rows = [row for row in endpoint.errors if row not in _NOT_ITS_OWN]
    classes = {refusal_class(row.error, row.status).__name__: row.status for row in rows}
    if not classes:
        return about
    return (
        f"{about}\n\n        Raises:\n"
        + "".join(f"            {name}: status {status}\n" for name, status in classes.items())
        + "        "
    )


def _answer(endpoint: endpoints.Endpoint[Any]) -> tuple[str, str]:
    """Return the result's type annotation, and the function that parses the result."""
    if endpoint.answers in service.MERGED:
        name = f"service.{service.MERGED[endpoint.answers].__name__}"
        return name, f"as_type({name})"
    match endpoint.answers:
        case (one,):
            return _type(one), f"as_type({_type(one)})"
        case (found, other) if [field.name for field in msgspec.structs.fields(other)] == ["found"]:
            return f"{_type(found)} | None", f"as_found({_type(found)})"
    if endpoint.media.startswith(("text/", "image/svg")):
        return "str", "as_text"
    return ("Any", "as_json") if endpoint.media == "application/json" else ("bytes", "as_bytes")


def _type(answer: type[models.Answer]) -> str:
    return f"{'service' if hasattr(service, answer.__name__) else 'models'}.{answer.__name__}"


if __name__ == "__main__":
    from generated import run

    sys.exit(run(lambda: {FILE: source()}))
