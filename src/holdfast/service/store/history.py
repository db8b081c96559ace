"""What may happen to an identifier, and the order of what happens at one moment."""

from __future__ import annotations

IN_ONE_MOMENT = (
    "session", "code_sent", "verified", "displaced", "registered", "confirmed", "refused", "credential_revoked",
    "released",
)  # fmt: skip
