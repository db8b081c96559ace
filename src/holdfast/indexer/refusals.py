"""The refusals that only the indexer returns. Refusals shared with the service are in `holdfast.wire.errors`."""

from __future__ import annotations

from holdfast.wire.errors import ErrorRow, Refused

INVALID_DID = ErrorRow(400, "Invalid did: expected a DID or its 32-byte hex hash")
INVALID_ALIAS = ErrorRow(400, "Invalid alias: expected an alias or its 32-byte hex hash")
INVALID_CONTROLLER = ErrorRow(400, "Invalid controller: expected 20-byte hex address")
INVALID_OWNER = ErrorRow(400, "Invalid owner: expected 20-byte hex address")
INVALID_KEY_OWNER = ErrorRow(400, "Invalid key_owner: expected 20-byte hex address")
INVALID_ADDRESS = ErrorRow(400, "Invalid account: expected 20-byte hex address")
INVALID_ACTIVE = ErrorRow(400, "Invalid active: expected true or false")
INVALID_FROM_BLOCK = ErrorRow(400, "Invalid from_block: expected a block number")
INVALID_TO_BLOCK = ErrorRow(400, "Invalid to_block: expected a block number")
INVALID_KIND = ErrorRow(400, "Invalid kind: expected the name of an event")
INVALID_LIMIT = ErrorRow(400, "Invalid limit: expected a number from 1 to 200")
INVALID_CURSOR = ErrorRow(400, "Invalid cursor")
INVALID_QUERY = ErrorRow(400, "Invalid query string")


def unknown_parameter(allowed: list[str]) -> Refused:
    """Return the refusal of a parameter that the path does not accept: ignoring it would change the query."""
    return Refused(ErrorRow(400, f"Unknown query parameter. Known: {', '.join(allowed) or 'none'}"))


def duplicate_parameter(name: str) -> Refused:
    """Return the refusal of a parameter that is given twice."""
    return Refused(ErrorRow(400, f"Duplicate query parameter: {name}"))
