"""Converts database rows to pins. All databases return the columns of a pin in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.pins import Pin, PinRequest, PinState

if TYPE_CHECKING:
    PinRow = tuple[str, str, str, str | None, str, str, str, int, int | None]

_DETAILS = {
    PinState.QUEUED: "waiting for the snapshot: upload it to POST /api/v0/dag/import",
    PinState.FAILED: "the snapshot was not uploaded in time; upload it, or ask for the pin again",
}


def pin_of(row: PinRow) -> Pin:
    """Return the pin that a row contains.

    Args:
        row: request ID, DID, CID, name or None, origins and meta as JSON, state, time in microseconds since the epoch,
            and bytes of the snapshot or None.
    """
    request_id, did, cid, name, origins, meta, stored_state, created_us, size = row
    state = PinState(stored_state)
    request = PinRequest(
        cid=cid, name=name, origins=tuple(msgspec.json.decode(origins)), meta=msgspec.json.decode(meta)
    )
    info = {} if size is None else {"dag_size": str(size)}
    if state in _DETAILS:
        info["status_details"] = _DETAILS[state]
    return Pin(request_id=request_id, did=did, request=request, state=state, created_us=created_us, info=info)
