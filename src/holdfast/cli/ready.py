"""`holdfast ready`: whether the service with these settings answers, for container runtimes and process managers."""

from __future__ import annotations

import http.client
import os
import ssl
import time
from http import HTTPStatus
from typing import Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, load_env_file
from holdfast.settings.parsers import MAX_PORT

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_WITHIN_S = 3.0
_AGAIN_AFTER_S = 0.2
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the addresses that listen everywhere


@app.command()
def ready(
    wait: Annotated[int, typer.Option(min=0, max=3600, help="For how many seconds to keep asking.")] = 0,
    alive: Annotated[bool, typer.Option("--alive", help="Ask only whether the process responds.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask the service at HOLDFAST_HOST and HOLDFAST_PORT whether it is ready; exits with 0 if so, otherwise with 4.

    With HOLDFAST_TLS_CERT it uses https and does not compare the certificate's name: the service is on this machine.
    """
    load_env_file(env_file, as_json=as_json)
    host, port, tls = _address(as_json=as_json)
    ends = time.monotonic() + wait
    while (why := _why_not(host, port, "/healthz" if alive else "/readyz", tls=tls)) and time.monotonic() < ends:
        time.sleep(_AGAIN_AFTER_S)
    if why:
        fail(Exit.UNAVAILABLE, f"not ready at {host} port {port}: {why}", as_json=as_json)
    emit({"ready": True}, "ready", as_json=as_json)


def _address(*, as_json: bool) -> tuple[str, int, bool]:
    """Return host, port and whether TLS is used. Only these settings are read, so that the command is quick."""
    port = os.environ.get("HOLDFAST_PORT") or "8787"
    if not port.isascii() or not port.isdigit() or not 0 < int(port) <= MAX_PORT:
        fail(Exit.CONFIGURATION, f"HOLDFAST_PORT: a whole number from 1 to {MAX_PORT} is needed", as_json=as_json)
    host = os.environ.get("HOLDFAST_HOST") or "127.0.0.1"
    return _ANY.get(host, host), int(port), bool(os.environ.get("HOLDFAST_TLS_CERT"))


def _why_not(host: str, port: int, path: str, *, tls: bool) -> str:
    """Return why the service is not ready; empty if it is."""
    connection = _connection(host, port, tls=tls)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return getattr(error, "strerror", None) or "it does not answer"
    finally:
        connection.close()
    return "" if status == HTTPStatus.OK else f"it answered {status}"


def _connection(host: str, port: int, *, tls: bool) -> http.client.HTTPConnection:
    if not tls:
        return http.client.HTTPConnection(host, port, timeout=_WITHIN_S)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=_WITHIN_S, context=context)
