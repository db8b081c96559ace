"""Records in the vault which passkeys and passwords were removed, so that another device's version cannot restore them.

A removal is a row of the `tokens` table, which is transferred with the vault and which the enclave ignores. Adding the
key to the vault again deletes the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Sequence

ROW = "removed-key"
# The keys of a person. Keys of kind "secret" belong to one device: to its keyring or its unlock period.
CARRIED = ("prf", "password")
_AS_INTENDED = ("conflict", "not_found")  # the row exists already, or no row is there to delete


class Call(Protocol):
    """Calls one function of the enclave. Nothing else may call the enclave in between."""

    def __call__(self, function: str, /, **fields: object) -> dict[str, Any]:
        """Return the response. Raises PluginCallError."""
        ...


def remove(call: Call, kind: str, key_id: str, remaining: Sequence[dict[str, object]]) -> dict[str, object]:
    """Remove a wrap and record the removal. `remaining`: as of the enclave's `remove_wrap`. Raises PluginCallError."""
    keys = {"keys": list(remaining)} if remaining else {}
    answer = call("remove_wrap", kind=kind, id=key_id, **keys)
    if kind in CARRIED:
        _exec(call, "create", row_of(kind, key_id))
    return answer


def add(call: Call, key: dict[str, Any]) -> dict[str, Any]:
    """Add a wrap, and delete the record of an earlier removal. Raises PluginCallError."""
    answer = call("add_wrap", key=key)
    _exec(call, "delete", {"id": row_of(key["kind"], key.get("id", ""))["id"]})
    return answer


def row_of(kind: str, key_id: str) -> dict[str, str]:
    """Return the row that records a removal."""
    return {"id": f"{ROW}:{kind}:{key_id}", "kind": ROW, "value": f"{kind}:{key_id}"}


def name_in(row: dict[str, object]) -> tuple[str, str] | None:
    """Return the kind and ID of the removed key that a row of `tokens` records, or None for any other row."""
    kind, _, key_id = str(row.get("value", "")).partition(":")
    return (kind, key_id) if row.get("kind") == ROW else None


def _exec(call: Call, action: str, args: dict[str, str]) -> None:
    see_recorded(call("exec", filter=f"resource:tokens action:{action}", args=args).get("error"))


def see_recorded(error: str | None) -> None:
    """Raise PluginCallError if a change to the records failed, unless they were already in the intended state."""
    code = (error or "").partition(":")[0]
    if code and code not in _AS_INTENDED:
        raise PluginCallError("exec", f"the removal of a key could not be recorded ({error})", code)
