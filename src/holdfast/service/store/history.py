"""The events of an identifier's history, in the order in which simultaneous events are listed."""

from __future__ import annotations

IN_ONE_MOMENT = (
    "session", "code_sent", "verified", "displaced", "added", "registered", "confirmed", "refused",
    "credential_revoked", "credential_displaced", "released", "transferred", "renamed", "recovery_asked",
    "recovery_confirmed", "recovery_signed", "recovery_stopped", "recovered",
)  # fmt: skip
