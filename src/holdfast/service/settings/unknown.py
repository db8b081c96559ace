"""Finds variables that look like settings but are none, such as a mistyped name, which would have no effect."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holdfast.service.settings.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "HOLDFAST_"
# Variables that other commands read: the indexer's, those of a vault's commands, and of the local world.
OTHERS = frozenset({
    "HOLDFAST_ACCOUNT", "HOLDFAST_CACHE_DIR", "HOLDFAST_CLIENT_RPC_URL", "HOLDFAST_CONTRACTS_OF_THE_SERVICE",
    "HOLDFAST_EXPORT_PASSWORD",
    "HOLDFAST_SECOND_VAULT_PASSWORD",
    "HOLDFAST_INDEXER_BEHIND_SECONDS", "HOLDFAST_INDEXER_DATABASE_URL", "HOLDFAST_INDEXER_HOST",
    "HOLDFAST_INDEXER_JOURNAL_BLOCKS", "HOLDFAST_INDEXER_POLL_SECONDS", "HOLDFAST_INDEXER_PORT",
    "HOLDFAST_INDEXER_START_BLOCK", "HOLDFAST_MIN_PASSWORD", "HOLDFAST_PAYMASTER_URL", "HOLDFAST_SERVICE_DID",
    "HOLDFAST_SENDER_KEY", "HOLDFAST_SERVICE_URL", "HOLDFAST_UNPINNED_TOOLS", "HOLDFAST_VAL_SHARE",
    "HOLDFAST_VAULT_DIR", "HOLDFAST_VAULT_KEY", "HOLDFAST_VAULT_PASSWORD",
})  # fmt: skip
KNOWN = OTHERS | {row.name for row in ROWS}


def unknown_settings(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each HOLDFAST_ variable that is not a setting, with the nearest name. Never a value."""
    names = sorted(name for name in environment if name.startswith(PREFIX) and name not in KNOWN)
    return [_sentence(name) for name in names]


def _sentence(name: str) -> str:
    shown = name if name.isprintable() else ascii(name)
    nearest = difflib.get_close_matches(name, KNOWN, n=1, cutoff=0.75)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"{shown}: no setting has this name, so it has no effect{hint}"
