"""Vaults that upload, pin and publish snapshots with a service."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.api import Api
from tests.support.vault_tokens import VaultKey

from holdfast.content.cars import write_car
from holdfast.content.cids import Block
from holdfast.content.names import name_of
from holdfast.content.snapshots import Manifest, snapshot_blocks
from holdfast.service.operations.snapshots import Snapshots
from holdfast.service.snapshots.object_blocks import ObjectBlocks


@dataclass
class Vault(VaultKey):
    api: Api = None  # type: ignore[assignment]
    publishing: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def public_key(self) -> bytes:
        return self.publishing.public_key().public_bytes_raw()

    @property
    def name(self) -> str:
        return name_of(self.public_key)

    def token(self, **changed: Any) -> dict[str, str]:
        return self.bearer(self.api.clock(), **changed)

    def blocks(
        self, sealed: bytes | None = None, *, did: str | None = None, delegate: bool = True
    ) -> tuple[Block, ...]:
        manifest = Manifest(
            root_cid=None,
            did=did or self.did,
            updated_at=int(self.api.clock() * 1000),
            wasm_version="0.1.0",
            delegation=self.delegation(self.public_key, self.api.clock()) if delegate else None,
        )
        return snapshot_blocks(manifest, os.urandom(1000) if sealed is None else sealed)

    async def upload(self, car: bytes, *, query: str = "", **more: Any) -> httpx2.Response:
        return await self.send(form(car), query=query, **more)

    async def send(
        self, body: bytes | AsyncIterator[bytes], *, query: str = "", headers: Any = None
    ) -> httpx2.Response:
        """Send what should be the form of an upload."""
        given = self.api.headers(more=headers or self.token())
        given["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
        return await self.api.http.post("/api/v0/dag/import" + query, content=body, headers=given)

    async def keep(self, blocks: tuple[Block, ...] | None = None) -> str:
        blocks = blocks or self.blocks()
        answer = await self.upload(write_car(blocks[0].cid, blocks))
        assert answer.status_code == 200, answer.text
        return blocks[0].cid

    async def pin(self, cid: str, **fields: Any) -> httpx2.Response:
        return await self.api.post("/pins", headers=self.token(), cid=cid, **fields)

    async def pins(self, **query: str) -> list[dict[str, Any]]:
        answer = await self.api.get("/pins", headers=self.token(), **{"limit": "1000", **query})
        assert answer.status_code == 200, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        return results


BOUNDARY = "-----------------------------Aa0_bcdefghijklmnopqr-"


def form(car: bytes, boundary: str = BOUNDARY) -> bytes:
    """Return a request body as kubo-rpc-client sends it: one part with an empty file name."""
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename=""\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + car + f"\r\n--{boundary}--\r\n".encode()


async def registered(api: Api, name: str = "ann") -> Vault:
    vault = Vault(api=api)
    answer = await api.register(identifier=name, credentialId=f"credential-{name}", did=vault.did)
    assert answer.status_code == 200, answer.text
    return vault


def failure(response: httpx2.Response) -> tuple[int, str]:
    """Return the status and the reason, after asserting that Pinning API and Kubo RPC clients can read the body."""
    body = response.json()
    assert set(body) == {"error", "Message", "Code", "Type"}
    assert body["Message"] == body["error"]["details"] and body["Code"] == 0 and body["Type"] == "error"
    assert set(body["error"]) == {"reason", "details"}
    return response.status_code, body["error"]["reason"]


def folder(vault: Vault) -> Path:
    blocks = snapshots_of(vault).blocks
    assert isinstance(blocks, ObjectBlocks)
    assert blocks.folder is not None
    return blocks.folder


def spooled(vault: Vault) -> list[Path]:
    spool = snapshots_of(vault).uploads.spool
    return list(spool.iterdir()) if spool.exists() else []


def snapshots_of(vault: Vault) -> Snapshots:
    assert vault.api.service.snapshots is not None
    return vault.api.service.snapshots


def plain_manifest(vault: Vault) -> Manifest:
    return Manifest(root_cid=None, did=vault.did, updated_at=1, wasm_version="0.1.0")
