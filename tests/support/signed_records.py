"""IPNS records, signed by keys that are not a vault's; the enclave writes the same bytes for its own key."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.content import ipld, protobuf

_V1 = {1: "Value", 3: "ValidityType", 4: "Validity", 5: "Sequence", 6: "TTL"}
_SIGNATURE, _DATA = 8, 9


def sign_record(
    key: Ed25519PrivateKey, root_cid: str, sequence: int, validity: datetime, ttl_s: int, *, v1: bool = False
) -> bytes:
    """Return a record that points to `root_cid`. `validity` has a time zone. `v1` adds V1's fields without a signature."""
    utc = validity.astimezone(UTC)
    until = f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond * 1000:09d}Z"
    entry: dict[str, int | bytes] = {
        "TTL": ttl_s * 1_000_000_000, "Value": f"/ipfs/{root_cid}".encode(), "Sequence": sequence,
        "Validity": until.encode(), "ValidityType": 0,
    }  # fmt: skip
    signed = ipld.encode(entry)
    fields: dict[int, int | bytes] = {_SIGNATURE: key.sign(b"ipns-signature:" + signed), _DATA: signed}
    if v1:
        fields |= {number: entry[name] for number, name in _V1.items()}
    return protobuf.encode(fields)
