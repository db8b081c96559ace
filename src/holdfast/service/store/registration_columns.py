"""The columns of a registration that both databases store, and how a new registration fills them.

The statements of both stores, and the move from one to the other, take their lists from here. A new column needs a line
here and a migration step in each database; in PostgreSQL no function names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.registration import Confirmation

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.store.values import NewRegistration

COLUMNS: dict[str, Callable[[NewRegistration], Any]] = {
    "channel": lambda new: new.identifier.channel.value,
    "credential": lambda new: new.request.credential_id,
    "identifier": lambda new: new.identifier.given,
    "did": lambda new: new.request.did,
    "tx_hash": lambda new: new.request.tx_hash,
    "block_number": lambda new: new.request.block_number,
    "smart_account": lambda new: new.request.smart_account,
    "created_at": lambda new: new.now,
    "asked": lambda _new: 0,
    "ask_at": lambda new: new.now if new.confirmation is Confirmation.PENDING else 0.0,
    "confirmation": lambda new: new.confirmation.value,
    "settled_at": lambda new: None if new.confirmation is Confirmation.PENDING else new.now,
    "signed": lambda new: new.signed,
}


def row_of(new: NewRegistration) -> dict[str, object]:
    """Return the values of a new registration's columns by their names."""
    return {name: value(new) for name, value in COLUMNS.items()}
