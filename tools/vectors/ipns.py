"""ipns/records.json: records made with other libraries, which the enclave must reproduce exactly.

`records` contains the records themselves, for every implementation of IPNS;
`cases` are calls to the enclave that must return the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.content import dag_cbor
from holdfast.content.bases import from_multibase, to_multibase

ROOT = Path(__file__).resolve().parents[2]
MINTING = ROOT / "vectors" / "ucan" / "mint_valid.json"
NOW_MS = 1_700_000_000_000
SNAPSHOT = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"
RAW = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
FAR = "2040-01-01T00:00:00.000000000Z"
MINUTES_5 = 300_000_000_000


@dataclass(frozen=True)
class Said:
    """The contents of an IPNS record, and the seed of its key. `ttl_ns` is in nanoseconds."""

    name: str
    seed: int
    root_cid: str = SNAPSHOT
    sequence: int = 7
    validity: str = FAR
    ttl_ns: int = MINUTES_5

    @property
    def fields(self) -> dict[str, Any]:
        """Return the arguments for the enclave's `publish`."""
        names = ("root_cid", "sequence", "validity", "ttl_ns")
        return {name: getattr(self, name) for name in names}


RECORDS = (
    Said("a snapshot", 1),
    Said("another snapshot", 1, root_cid="bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
    Said("the first sequence", 2, sequence=0),
    Said("the largest sequence", 2, sequence=(1 << 53) - 1),
    Said("a sequence of one byte more", 2, sequence=24),
    Said("no caching", 3, ttl_ns=0),
    Said("the longest caching", 3, ttl_ns=(1 << 63) - 1),
    Said("a validity of one nanosecond", 4, validity="2033-12-31T23:59:59.000000001Z"),
    Said("the last validity", 4, validity="9999-12-31T23:59:59.999999999Z"),
)
INVALID: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("no root", {"root_cid": None}, "missing_field"),
    ("no sequence", {"sequence": None}, "missing_field"),
    ("no validity", {"validity": None}, "missing_field"),
    ("no TTL", {"ttl_ns": None}, "missing_field"),
    ("a root of version 0", {"root_cid": "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n"}, "invalid_field"),
    ("a root in upper case", {"root_cid": SNAPSHOT.upper()}, "invalid_field"),
    ("a root in base58", {"root_cid": to_multibase("z", from_multibase(SNAPSHOT))}, "invalid_field"),
    (
        "a root of another codec",
        {"root_cid": "bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"},
        "invalid_field",
    ),
    ("a root by the identity hash", {"root_cid": "bafkqaaa"}, "invalid_field"),
    ("a root of raw bytes", {"root_cid": RAW}, "invalid_field"),
    ("a root with a path", {"root_cid": f"{SNAPSHOT}/a"}, "invalid_field"),
    ("a root that is too long", {"root_cid": "b" * 129}, "value_too_large"),
    ("a negative sequence", {"sequence": -1}, "invalid_field"),
    ("a sequence over 2^53 - 1", {"sequence": 1 << 53}, "invalid_field"),
    ("a sequence that is a text", {"sequence": "7"}, "invalid_field"),
    ("a negative TTL", {"ttl_ns": -1}, "invalid_field"),
    ("a TTL over 2^63 - 1", {"ttl_ns": 1 << 63}, "invalid_field"),
    ("a validity in milliseconds", {"validity": "2040-01-01T00:00:00.000Z"}, "invalid_field"),
    ("a validity with an offset", {"validity": "2040-01-01T00:00:00.00000+00:0"}, "invalid_field"),
    ("a validity that is not a date", {"validity": "2040-02-30T00:00:00.000000000Z"}, "invalid_field"),
    ("a validity in the past", {"validity": "2020-01-01T00:00:00.000000000Z"}, "invalid_field"),
    ("a validity that is now", {"validity": "2023-11-14T22:13:20.000000000Z"}, "invalid_field"),
)


def contents() -> dict[str, Any]:
    """Return the file's contents, by its path without the suffix."""
    content = {
        "claim": "The enclave writes these IPNS records of version 2 byte for byte, and refuses other input",
        "source": "own (tools/vectors/ipns.py); `a snapshot` was read by js `ipns`, `@helia/ipns` and py-libp2p",
        "function": "publish",
        "records": [record_of(said) for said in RECORDS],
        "cases": [*map(case_of, RECORDS), *(refusal(*invalid) for invalid in INVALID), locked(), absent()],
    }
    return {"ipns/records": content}


def record_of(said: Said) -> dict[str, Any]:
    """Return an IPNS record and its contents, with bytes in hex."""
    record = signed(said)
    about = {"public_key": public_key(said).hex(), "ipns_name": ipns_name(public_key(said))}
    digest = hashlib.sha256(record).hexdigest()
    seed = seed_of(said).hex()
    return {"name": said.name, "seed": seed, **said.fields, **about, "record": record.hex(), "sha256": digest}


def signed(said: Said) -> bytes:
    """Return a protobuf IpnsEntry with the fields 8 (signatureV2) and 9 (data)."""
    data = dag_cbor.encode(
        {
            "Value": b"/ipfs/" + said.root_cid.encode(),
            "Validity": said.validity.encode(),
            "ValidityType": 0,
            "Sequence": said.sequence,
            "TTL": said.ttl_ns,
        }
    )
    signature = Ed25519PrivateKey.from_private_bytes(seed_of(said)).sign(b"ipns-signature:" + data)
    return b"\x42\x40" + signature + b"\x4a" + varint(len(data)) + data


SEVEN_BITS = 0x7F


def varint(number: int) -> bytes:
    """Return a protobuf varint."""
    return bytes([number]) if number <= SEVEN_BITS else bytes([number & SEVEN_BITS | 0x80]) + varint(number >> 7)


def seed_of(said: Said) -> bytes:
    """Return the key's seed, which consists of 32 equal bytes."""
    return bytes([said.seed]) * 32


def public_key(said: Said) -> bytes:
    """Return the 32-byte public key."""
    return Ed25519PrivateKey.from_private_bytes(seed_of(said)).public_key().public_bytes_raw()


def ipns_name(key: bytes) -> str:
    """Return the key's IPNS name: a CIDv1 in base36, with the codec libp2p-key and an identity multihash."""
    return to_multibase("k", b"\x01\x72\x00\x24\x08\x01\x12\x20" + key)


def case_of(said: Said) -> dict[str, Any]:
    """Return a case in which a new vault adopts the publishing key and publishes a record."""
    record, name = signed(said), ipns_name(public_key(said))
    waiting = {"public_key": public_key(said).hex(), "name": name, "pending": True}
    steps = [
        {"function": "publishing_key", "random": seed_of(said).hex(), "contains": waiting},
        made_vault(),
        {"function": "publishing_key", "contains": {**waiting, "pending": False}},
        {"input": said.fields, "output": {"record": base64.b64encode(record).decode(), "name": name}},
    ]
    return {"name": said.name, "now_ms": NOW_MS, "steps": steps}


def refusal(name: str, change: dict[str, Any], code: str) -> dict[str, Any]:
    """Return a case in which an open vault must refuse to publish a changed record."""
    step = {"input": {**RECORDS[0].fields, **change}, "error": code}
    return {"name": name, "now_ms": NOW_MS, "steps": [made_vault(), step]}


def locked() -> dict[str, Any]:
    """Return a case in which a locked vault must neither publish nor reveal the key."""
    steps = [made_vault(), {"function": "lock"}]
    steps += [{"input": RECORDS[0].fields, "error": "vault_locked"}]
    steps += [{"function": name, "error": "vault_locked"} for name in ("publishing_key", "publishing_delegation")]
    return {"name": "a locked vault", "now_ms": NOW_MS, "steps": steps}


def absent() -> dict[str, Any]:
    """Return a case in which a publishing key without a vault must not publish."""
    steps = [{"function": "publishing_key", "contains": {"pending": True}}]
    steps += [{"input": RECORDS[0].fields, "error": "vault_uninitialized"}]
    steps += [{"function": "publishing_delegation", "error": "vault_uninitialized"}]
    return {"name": "no vault", "now_ms": NOW_MS, "steps": steps}


def made_vault() -> dict[str, Any]:
    """Return the step that creates a vault, with fixed randomness."""
    step: dict[str, Any] = json.loads(MINTING.read_text())["cases"][0]["steps"][0]
    random = b"".join(hashlib.sha256(bytes([index])).digest() for index in range(64)).hex()
    return {"function": "generate", "random": random, "input": step["input"]}
