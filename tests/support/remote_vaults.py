"""Vaults that upload to a service in another process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import httpx2
from tests.support.proxies import Proxy
from tests.support.serving import Server
from tests.support.snapshot_vaults import BOUNDARY, form
from tests.support.vault_tokens import AUDIENCE, VaultKey

from holdfast.content.cars import write_car
from holdfast.content.cids import Block
from holdfast.content.snapshots import Manifest, snapshot_blocks

MIB = 1024 * 1024
# The limits are high because a fast machine uploads more than a DID may store by default.
ROOMY = {
    "registrar_did": AUDIENCE,
    "snapshots_free_bytes": "0",
    "snapshots_bytes_per_did": str(2048 * MIB),
    "snapshots_bytes_unconfirmed": str(2048 * MIB),
    "snapshots_pins_per_did": "10000",
    "snapshots_revisions_per_did": "10000",
    "snapshots_uploads_per_address_hour": "10000",
}


class RemoteVault(VaultKey):
    def register(self, server: Server | Proxy) -> None:
        body = {"credentialId": "cred", "identifier": "ann", "channel": "handle", "did": self.did, "txHash": "0xabc"}
        with server.client() as client:
            assert client.post("/api/dids", json=body).status_code == 200

    def headers(self) -> dict[str, str]:
        return {**self.bearer(time.time()), "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}

    def snapshot(self, size: int) -> tuple[Block, ...]:
        manifest = Manifest(root_cid=None, did=self.did, updated_at=1, wasm_version="0")
        return snapshot_blocks(manifest, os.urandom(size))

    def upload(self, server: Server | Proxy, blocks: tuple[Block, ...]) -> httpx2.Response:
        """Upload as kubo-rpc-client does, with chunked transfer encoding and without Content-Length."""
        body = form(write_car(blocks[0].cid, blocks))

        def pieces() -> Iterator[bytes]:
            for at in range(0, len(body), 60_000):
                yield body[at : at + 60_000]

        with server.client() as client:
            return client.post("/api/v0/dag/import", content=pieces(), headers=self.headers())
