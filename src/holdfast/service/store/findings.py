"""What `holdfast check` says about one thing that it checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked.

    Attributes:
        subject: what was checked.
        state: ok; note (works, but see the fix); error (must be fixed).
        found: what was found; never a setting that may contain a secret, nor text from an upstream.
        fix: what to do; empty if there is nothing to do.
    """

    subject: str
    state: Literal["ok", "note", "error"]
    found: str
    fix: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the finding for `--json`."""
        return asdict(self)
