"""HTTP access to the servers that store snapshots (CAR files, pins, records, blocks): Holdfast's service or others."""

from __future__ import annotations

import asyncio
import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.http.calls import Call, Reply, as_json
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.client.snapshots.tokens import did_of_service
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.pinning import AsyncPinning
from holdfast.client.types import PinRequest, SnapshotConfig
from holdfast.content import records
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import httpx2

    from holdfast.client.http.calls import Retries
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import VaultSnapshotConfig

UPLOAD_TIMEOUT_S = 120.0
_BOUNDARY_BYTES = 16
_PART = 'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n'
_NOT_FOUND = 404


class SnapshotHosts:
    """The client's service, and the servers that the snapshot settings name in addition to it or in its place.

    `store` stores fetched blocks; `token` returns a token for an audience, without which nothing can be written.
    """

    def __init__(
        self,
        service_url: str,
        config: VaultSnapshotConfig | None = None,
        *,
        store: VaultStore | None = None,
        token: Callable[[str], Awaitable[str]] | None = None,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.config = full_config(config)
        self._upload_url = self.config.upload_url or service_url
        self.service = did_of_service(self._upload_url)
        self._mint = token
        more: dict[str, Any] = {"retries": retries, "transport": transport}
        self._http = HttpTransport(self._upload_url, timeout=UPLOAD_TIMEOUT_S, **more)
        # The first is the one that has the newest record.
        self.gateway = AsyncGateway(tuple(dict.fromkeys((self._upload_url, *self.config.gateways))), store, **more)
        pinning_url = self._upload_url if self.config.pinning_url is None else self.config.pinning_url
        # A token for one server is of no use at another.
        access = self.config.access_token or partial(self._token, pinning_url)
        self.pinning = AsyncPinning(pinning_url, access, **more) if pinning_url else None

    async def upload(self, snapshot: Snapshot) -> None:
        """Upload the blocks as to a Kubo node (POST /api/v0/dag/import), which pins them without a pinning service.

        Raises RequestRefused, StorageError.
        """
        boundary, pinned = secrets.token_hex(_BOUNDARY_BYTES), self.pinning is None
        body = f"--{boundary}\r\n{_PART}".encode() + snapshot.to_car() + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        headers["Authorization"] = f"Bearer {await self._token(self._upload_url)}"
        call = Call(
            method="POST",
            path="/api/v0/dag/import",
            query={"pin-roots": "true" if pinned else "false"},
            content=body,
            headers=headers,
            read=lambda reply: _check_imported(reply, snapshot.root_cid, pinned=pinned),
        )
        await self._http.send(call)

    async def publish(self, name: str, record: bytes) -> None:
        """Publish an IPNS record, which proves itself by its signature. Raises RequestRefused, NetworkError."""
        path, headers = f"/routing/v1/ipns/{name}", {"Content-Type": records.MEDIA_TYPE}
        await self._http.send(Call(method="PUT", path=path, content=record, headers=headers, read=lambda _reply: None))

    async def name_of(self, credential_id: str) -> str | None:
        """Return the IPNS name that Holdfast's service has for a passkey: a hint, whose record the caller verifies."""
        query = {"credentialId": credential_id}
        try:
            answer = await self._http.send(Call(method="GET", path="/api/snapshots/name", query=query, read=as_json))
        except RequestRefused as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        name = answer.get("name") if isinstance(answer, dict) else None
        return name if isinstance(name, str) else None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()
        await self.gateway.close()
        if self.pinning is not None:
            await self.pinning.close()

    async def _token(self, url: str) -> str:
        if self._mint is None:
            raise StorageError("without the vault's key nothing can be written")
        own, named = did_of_service(url), self.config.service_did
        return await self._mint(named if named and own == self.service else own)


async def pin_requested(
    hosts: SnapshotHosts, snapshot: Snapshot, name: str, meta: dict[str, str]
) -> Callable[[], Awaitable[object]]:
    """Upload a snapshot, and request its pin. Without a pinning service the upload itself pins.

    Return what waits until it is pinned. Both raise RequestRefused, NetworkError, StorageError.
    """
    await hosts.upload(snapshot)
    if hosts.pinning is None:
        return partial(asyncio.sleep, 0)
    made = await hosts.pinning.add(PinRequest(cid=snapshot.root_cid, name=name, meta=meta))
    return partial(asyncio.sleep, 0) if made.status == "pinned" else partial(hosts.pinning.wait, made.request_id)


def full_config(config: VaultSnapshotConfig | None) -> SnapshotConfig:
    """Return the snapshot settings as a `SnapshotConfig`, which has more fields than the interface's type."""
    if isinstance(config, SnapshotConfig):
        return config
    return SnapshotConfig(gateway_url=config.gateway_url if config else None)


def _check_imported(reply: Reply, root_cid: str, *, pinned: bool) -> None:
    """Check that the response contains the expected root and no error: Kubo may fail after sending status 200."""
    try:
        lines = [msgspec.json.decode(line) for line in reply.content.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise StorageError("the snapshot was not accepted: the server's answer is not JSON") from error
    roots = [line["Root"] for line in lines if isinstance(line, dict) and line.get("Root") is not None]
    if len(roots) != (1 if pinned or roots else 0) or not all(_is_root(root, root_cid) for root in roots):
        raise StorageError("the snapshot was not accepted: the server acknowledged another root, or none")


def _is_root(root: Any, root_cid: str) -> bool:
    cid = root.get("Cid") if isinstance(root, dict) else None
    return isinstance(cid, dict) and cid.get("/") == root_cid and not root.get("PinErrorMsg")
