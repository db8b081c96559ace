"""The device of an earlier release in a pairing, which passes on no passkeys and passwords."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from holdfast.client.vault import calls


def respond_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every device respond to the digits as an earlier release did."""
    ours = calls.sync_respond

    def earlier(session_id: str, **given: Any) -> calls.EnclaveCall[calls.Released]:
        call = ours(session_id, **given)
        return replace(call, fields={name: value for name, value in call.fields.items() if name != "with_keys"})

    monkeypatch.setattr(calls, "sync_respond", earlier)
