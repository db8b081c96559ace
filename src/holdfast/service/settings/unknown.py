"""Finds variables that look like settings but are none, such as a mistyped name, which would have no effect."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holdfast.rules.limits import LIMIT_NAMES
from holdfast.service.settings.rows import ROWS, SIGNING_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
PLAIN = frozenset({SIGNING_KEY, *LIMIT_NAMES})  # the settings without the prefix


def unknown_settings(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable that only looks like a setting, with the nearest name.

    Never a value. What has the prefix looks like one, and what nearly has the name of a setting without the prefix.
    """
    others = sorted(environment.keys() - KNOWN - PLAIN)
    return [_sentence(name) for name in others if name.startswith(PREFIX) or _nearest(name, PLAIN, 0.9)]


def _nearest(name: str, names: Iterable[str], alike: float) -> list[str]:
    return difflib.get_close_matches(name, names, n=1, cutoff=alike)


def _sentence(name: str) -> str:
    shown = name if name.isprintable() else ascii(name)
    nearest = _nearest(name.removeprefix(PREFIX), PLAIN, 0.9) or _nearest(name, KNOWN, 0.75)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"{shown}: no setting has this name, so it has no effect{hint}"
