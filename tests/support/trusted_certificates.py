"""Reads the system's certificates once per run, because reading them costs each HTTP client 40 ms of CPU time."""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

from httpx2._transports import default

_read = default.create_ssl_context  # type: ignore[attr-defined]  # the name that the transports use


def read_once() -> None:
    """Make all HTTP clients in this process that specify no certificates share one copy of the system's."""
    default.create_ssl_context = _context  # type: ignore[attr-defined]


def _context(verify: ssl.SSLContext | str | bool = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    if verify is True and cert is None:
        return _systems(trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    context: ssl.SSLContext = _read(verify=verify, cert=cert, trust_env=trust_env)
    return context


@cache
def _systems(trust_env: bool, _file: str | None, _folder: str | None) -> ssl.SSLContext:
    context: ssl.SSLContext = _read(trust_env=trust_env)
    return context
