"""Determines whether OpenTelemetry's standard variables enable traces, and whether this installation can send them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.settings.parsers import http_url
from holdfast.settings.rows import SettingError
from holdfast.wire.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
_HEADERS = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
# What the SDK reads as a header (W3C Baggage). It logs anything else, although that may be the collector's key.
_HEADER = re.compile(r"[!#-'*+.0-9A-Z^-z|~-]+[ \t]*=[ !#-+\--:<-\[\]-~]*")


def traces_configured(environment: Mapping[str, str]) -> bool:
    """Return whether traces are enabled: a collector is configured, and neither the SDK nor the exporter is disabled.

    Raises:
        SettingError: a protocol other than OTLP over HTTP is configured, an address or a header has another form, or
            the extra `otel` is not installed.
    """
    endpoint = next((name for name in ENDPOINTS if environment.get(name)), None)
    if endpoint is None or _turned_off(environment):
        return False
    _require_http(environment)
    try:
        http_url(environment[endpoint])
    except ValueError as error:
        raise SettingError(f"{endpoint}: {error}") from None
    _require_headers(environment)
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        raise SettingError(f"{endpoint}: traces need the extra: {install_command('otel')}; or unset the variable")
    return True


def traces_address(environment: Mapping[str, str]) -> str:
    """Return the URL to which spans are sent.

    The variable for all signals contains a base URL (OTLP exporter specification).
    """
    traces, general = (environment.get(name, "") for name in ENDPOINTS)
    return traces or general.rstrip("/") + "/v1/traces"


def _turned_off(environment: Mapping[str, str]) -> bool:
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return disabled or environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() not in {"", "otlp"}


def _require_http(environment: Mapping[str, str]) -> None:
    for name in _PROTOCOLS:
        if environment.get(name, PROTOCOL) not in {"", PROTOCOL}:
            raise SettingError(f"{name}: only {PROTOCOL} is spoken; unset it, or set it to {PROTOCOL}")


def _require_headers(environment: Mapping[str, str]) -> None:
    for name in _HEADERS:
        given = [part.strip() for part in environment.get(name, "").split(",")]
        if not all(_HEADER.fullmatch(part) for part in given if part):
            raise SettingError(f"{name}: headers as name=value are needed, separated by commas and percent-encoded")
