"""Whether a DID has a registered credential.

The database index contains only the last characters of DIDs (migrations.py). Without the plus sign in `+did`, SQLite
would replace the column with the value in the whole condition, and could not use the index. Both parameters of a
statement are the DID.
"""

from __future__ import annotations

_OF_DID = "SELECT 1 FROM credentials WHERE substr(did, -12) = substr(?, -12) AND +did = ?"
IS_REGISTERED = f"{_OF_DID} AND confirmation <> 'refused' LIMIT 1"
IS_CONFIRMED = f"{_OF_DID} AND confirmation = 'confirmed' LIMIT 1"
