"""Writes that are never batched: confirmations, expiry, leases, and what operators do."""

from __future__ import annotations

from holdfast.service.store.postgresql.batches import row, rows_of, value_of
from holdfast.service.store.postgresql.writes.arguments import call

PUT_OFF = rows_of("put_off", call("put_off_v1", 3), row)
SETTLE = value_of("settle", call("settle_v1", 5), bool)
EXPIRE = value_of("expire", call("expire_v1", 4), int, repeatable=True)
EXPIRE_REFUSED = value_of("expire", call("expire_refused_v1", 2), int, repeatable=True)
TAKE_LEASE = value_of("take_lease", call("take_lease_v1", 4), bool, repeatable=True)
END_LEASE = rows_of("end_lease", "DELETE FROM holdfast.leases WHERE name = $1 AND holder = $2", row)
RELEASE = value_of("release", call("release_v1", 4), bool)
REVOKE = value_of("revoke_credential", call("revoke_credential_v1", 3), bool)
