"""What service and clients assume when they are told nothing else."""

from __future__ import annotations

SERVICE_URL = "http://localhost:8787"
