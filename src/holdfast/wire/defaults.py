"""Defaults that service and clients share."""

from __future__ import annotations

SERVICE_URL = "http://localhost:8787"
