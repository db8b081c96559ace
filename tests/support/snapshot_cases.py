"""Snapshots and pins that the tests of all stores share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.rules.pins import Pin, PinRequest
from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.snapshot_index import NewPin, NewRecord, NewRoot, NewUpload, SnapshotIndex, TokenUse
from holdfast.wire.failures import INSUFFICIENT_FUNDS, SnapshotRefused

DID, OTHER = "did:new:0x" + "11" * 32, "did:new:0x" + "22" * 32
NOW = 1_800_000_000.0


def use(number: int, kind: str = "import", what: str = "root") -> TokenUse:
    return TokenUse(token=number.to_bytes(32), kind=kind, what=what, until=NOW + 300)


def taking(size: int, limit: int = 1000) -> Callable[[Usage], int]:
    def decide(usage: Usage) -> int:
        if usage.stored + usage.reserved + size > limit:
            raise SnapshotRefused(INSUFFICIENT_FUNDS)
        return size

    return decide


def allow(_usage: Usage) -> None:
    return None


async def keep(index: SnapshotIndex, name: str, **changed: Any) -> NewRoot:
    """Store a snapshot that consists of a root and two blocks, one of which is the same in all snapshots."""
    upload = changed.pop("upload", f"upload-{name}")
    did = changed.get("did", DID)
    await index.begin_upload(NewUpload(upload_id=upload, did=did, now=NOW, expires_at=NOW + 900), taking(1))
    blocks = (name, f"{name}-block", "shared")
    await index.insert_blocks(did, upload, [(cid, 10) for cid in blocks])
    fields = {
        "cid": name, "did": did, "blocks": blocks, "size": 30, "publisher": None, "pin": f"pin-{name}", "held_until": 0.0,
        "now": NOW,
    }  # fmt: skip
    root = NewRoot(**{**fields, **changed})
    await index.finish_upload(upload, root, use(int.from_bytes(upload.encode()[-8:]), what=name), allow, allow)
    return root


async def pin(index: SnapshotIndex, number: int, cid: str, did: str = DID, **more: Any) -> Pin | None:
    request = PinRequest(cid=cid, **more.pop("request", {}))
    new = NewPin(request_id=f"request-{number}", did=did, request=request, now=NOW, **more)
    return await index.add_pin(new, use(10_000 + number, "pin", f"{cid}{more}"), allow)


def record(name: str, root: str, sequence: int = 1, **more: Any) -> NewRecord:
    given = {"validity_ns": 2**63, "ttl_ns": 2**63 - 1, "data": b"r", "now": NOW, **more}
    return NewRecord(name=name, root=root, sequence=sequence, **given)
