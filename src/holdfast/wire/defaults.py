"""The service's default URL, which the service and its clients use."""

from __future__ import annotations

SERVICE_URL = "http://localhost:8787"
