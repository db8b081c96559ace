"""The events of an identifier's history, in the order in which events of the same moment are listed."""

from __future__ import annotations

IN_ONE_MOMENT = (
    "session", "code_sent", "verified", "displaced", "registered", "confirmed", "refused", "credential_revoked",
    "released",
)  # fmt: skip
