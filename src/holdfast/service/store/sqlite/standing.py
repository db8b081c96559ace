"""Finds rows by their DID.

The database indexes contain only the last characters of DIDs (migrations.py). Without the plus sign in `+did`, SQLite
would replace the column with the value in the whole condition, and could not use the index. The first parameter of each
statement is the DID.
"""

from __future__ import annotations


def of_did(column: str) -> str:
    """Return the condition that a column is the DID."""
    return f"substr({column}, -12) = substr(?1, -12) AND +{column} = ?1"


INDEXED = "(stage = 'session' OR channel <> 'handle')"  # the condition of the index of identifiers by DID
_OF_DID = f"SELECT 1 FROM credentials WHERE {of_did('did')}"  # noqa: S608 - our own condition
# The row IDs of the identifiers that a DID holds, and of some that it held. Registered handles are found by their
# credentials, sessions and addresses by their own index.
PERHAPS_HELD = (
    f"SELECT identifier_id FROM credentials WHERE {of_did('did')}"  # noqa: S608 - our own conditions
    f" UNION SELECT id FROM identifiers WHERE {INDEXED} AND {of_did('did')}"
)
IS_REGISTERED = f"{_OF_DID} AND confirmation <> 'refused' LIMIT 1"
IS_CONFIRMED = f"{_OF_DID} AND confirmation = 'confirmed' LIMIT 1"
