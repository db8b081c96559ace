"""Plays the scenarios of vectors/flows with the Python client (vectors/README.md describes their form)."""

from __future__ import annotations

import asyncio
import re
import struct
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpx
import msgspec

from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.http.calls import Retries
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.automatic import AutomaticSnapshots
from holdfast.client.snapshots.publishing import Publisher, SnapshotConflict
from holdfast.client.snapshots.recovery import Recovery
from holdfast.client.snapshots.state import SnapshotState, read_state, write_state
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.name_records import Patience
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import VaultManifest
from holdfast.client.vault.keys import SecretKey
from holdfast.content.cars import write_car
from holdfast.content.cids import raw_block
from holdfast.content.records import Record
from holdfast.wire.client_errors import NetworkError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

DID = "did:new:0x" + "11" * 32
NAME = "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8"
DELEGATION = b"\xa0"
UPDATED_AT = 1_700_000_000_000
MORE_ATTEMPTS = 20


async def play(scenario: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Return what each event of a scenario led to: its effects, the state that is stored after it, and its error."""
    if scenario["flow"] == "retries":
        return [await _retries(scenario["outcomes"])]
    if scenario["flow"] == "request":
        return [await _request(scenario)]
    if scenario["flow"] == "name":
        return [await _name(scenario)]
    with VaultStore(directory=folder) as store:
        player = _Player(store, dict(scenario.get("roots", {})))
        player.give(scenario["given"])
        return [await player.turn(event) for event in scenario["events"]]


async def _retries(outcomes: list[Any]) -> dict[str, Any]:
    """Return after which waiting times a sequence of failing attempts is repeated."""
    waits: list[float] = []
    left, uses = list(outcomes), [0]

    async def publish() -> None:
        if left and (outcome := left.pop(0)) is not None:
            uses[0] += outcome == "lost upload"
            raise _error("lost" if outcome == "lost upload" else outcome)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    automatic = AutomaticSnapshots(publish, uses=lambda: uses[0], sleep=sleep)
    automatic.changed()
    assert automatic._task is not None
    await automatic._task
    return {"waits_s": waits, "attempts": len(outcomes) - len(left)}


async def _request(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return how often a request is sent, after which waiting times, and how it ends."""
    keys, waits, left = [], [], list(scenario["answers"])

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("idempotency-key"))
        if (answer := left.pop(0)) == "lost":
            raise httpx.ReadError("lost")
        error = {"error": answer["error"]} if "error" in answer else {}
        after = {"Retry-After": str(answer["retry_after"])} if "retry_after" in answer else {}
        return httpx.Response(answer["status"], json=error, headers=after)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    client = AsyncServiceClient("https://service.example", transport=httpx.MockTransport(handler))
    error = None
    with patch("holdfast.client.http.transport.asyncio.sleep", sleep):
        try:
            await _CALLS[scenario["call"]](client)
        except NetworkError as raised:
            error = getattr(raised, "code", "NetworkError")
    await client.close()
    assert len(set(keys)) == 1, "each attempt has the same key"
    return {"attempts": len(keys), "waits_s": waits, "keyed": keys[0] is not None, "error": error}


_CALLS: dict[str, Callable[[AsyncServiceClient], Awaitable[Any]]] = {
    "status": lambda client: client.status(),
    "send code": lambda client: client.send_code("ann@example.com", "email"),
}


async def _name(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return what is read about a name from several servers, of which each returns a record, a status or nothing."""
    known = {name: bytes.fromhex(data) for name, data in scenario["records"].items()}

    async def handler(request: httpx.Request) -> httpx.Response:
        answer = scenario["servers"][request.url.host]
        answer = answer.get(request.url.path.split("/")[1], 404) if isinstance(answer, dict) else answer
        if answer == "silent":
            await asyncio.Event().wait()
        if answer == "late":
            await asyncio.sleep(0.2)
            answer = scenario["late"]
        return httpx.Response(answer) if isinstance(answer, int) else httpx.Response(200, content=known[answer])

    patience = Patience(after_first_s=scenario.get("after_first_s", 0), main_s=scenario.get("main_s", 0))
    urls = [f"https://{host}" for host in scenario["servers"]]
    gateway = AsyncGateway(
        urls, None, retries=Retries(attempts=1), transport=httpx.MockTransport(handler), patience=patience
    )
    answers = await gateway.answers(scenario["name"], absent_is_enough=scenario.get("absent_is_enough", False))
    await gateway.close()
    newest = next((name for name, data in known.items() if answers.newest and answers.newest.data == data), None)
    return {"newest": newest, "failed": sorted(answers.failed), "has_main": answers.has_main}


@dataclass
class _Player:
    """One device: its store is real, its enclave and its servers are scripted."""

    store: VaultStore
    roots: dict[str, str]
    effects: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        place = SimpleNamespace(
            gateway=SimpleNamespace(record=self.record, snapshot=self.snapshot),
            upload=self.upload,
            publish=self.publish,
            pinning=SimpleNamespace(add=self.pin, list=self.pins, delete=self.unpin),
            config=SimpleNamespace(kept=10),
        )
        vault = SimpleNamespace(
            status=self.status,
            publishing_key=self.publishing_key,
            publishing_delegation=self.publishing_delegation,
            publish=self.sign,
            unlock=self.unlock,
        )
        self.vault, self.place = vault, place
        self.publisher = Publisher(vault, self.store, place)  # type: ignore[arg-type]

    def give(self, given: dict[str, Any]) -> None:
        if "vault" in given:
            self.save(**given["vault"])
        if "state" in given:
            state = {_snake(key): self.roots.get(value, value) for key, value in given["state"].items()}
            write_state(self.store, SnapshotState(did=DID, **state))

    async def turn(self, event: dict[str, Any]) -> dict[str, Any]:
        self.effects, self.answers, error = [], event.get("answers", {}), None
        try:
            await getattr(self, "do_" + event["do"])(event)
        except ServiceError as raised:
            error = "RequestRefused" if isinstance(raised, RequestRefused) else type(raised).__name__
        state = read_state(self.store, DID)
        stored = {key: self.symbol(value) for key, value in _all(state).items()}
        return {"effects": self.effects, "state": stored, "error": error}

    async def do_publish(self, _event: dict[str, Any]) -> None:
        await self.publisher.publish()

    async def do_overrule(self, _event: dict[str, Any]) -> None:
        await self.publisher.overrule()

    async def do_change(self, event: dict[str, Any]) -> None:
        before = self.store.load(DID)
        assert before is not None
        root = before.manifest.root_cid
        self.save(revision=event["revision"], root=None if root is None else self.symbol(root))
        self.publisher.changed()

    async def do_recover(self, event: dict[str, Any]) -> None:
        """Recover the vault from the CAR file of a snapshot."""
        taken = snapshots.take(self.manifest(event["on"]), sealed(event["revision"]))
        assert taken.root_cid == self.roots[event["root"]]
        more = [raw_block(b"another's")] if event.get("extra") else []
        car = write_car(taken.root_cid, [*taken.blocks, *more])
        self.vault.status = _unused
        await Recovery(self.vault, self.store, self.place).recover(key=SecretKey(b"k" * 32), car=car)  # type: ignore[arg-type]
        self.vault.status = self.status

    def save(self, revision: int, root: str | None) -> None:
        self.store.save(self.manifest(root), sealed(revision), revision)

    def manifest(self, root: str | None) -> VaultManifest:
        root_cid = None if root is None else self.roots[root]
        return VaultManifest(root_cid=root_cid, did=DID, updated_at=UPDATED_AT, wasm_version="1", schema_version=1)

    def symbol(self, value: Any) -> Any:
        """Return the scenario's name for a root CID, and any other value unchanged."""
        return next((name for name, cid in self.roots.items() if cid == value), value)

    def answer(self, effect: str, detail: str = "") -> Any:
        self.effects.append(effect + detail)
        answer = self.answers.get(effect)
        if isinstance(answer, str) or (isinstance(answer, dict) and "refused" in answer):
            raise _error(answer)
        return answer

    async def status(self) -> Any:
        return SimpleNamespace(locked=False, did=DID, initialized=True)

    async def publishing_key(self) -> Any:
        self.answer("vault: publishing key")
        return SimpleNamespace(name=NAME)

    async def publishing_delegation(self) -> Any:
        self.answer("vault: delegation")
        return SimpleNamespace(signed_dag_cbor=DELEGATION)

    async def sign(self, root_cid: str, sequence: int, *_: Any) -> Any:
        self.answer("vault: sign record", f" {sequence} of {self.symbol(root_cid)}")
        return SimpleNamespace(record=f"record {sequence}".encode())

    async def unlock(self, *_: Any) -> Any:
        self.answer("vault: unlock")
        return SimpleNamespace(success=True)

    async def record(self, _name: str) -> Record | None:
        answer = self.answer("read record")
        return None if answer is None else Record(b"", self.roots[answer["root"]], answer["sequence"], 0, 0, b"theirs")

    async def snapshot(self, root_cid: str) -> None:
        self.answer("read snapshot", f" {self.symbol(root_cid)}")

    async def upload(self, taken: snapshots.Snapshot) -> None:
        revision = int.from_bytes(taken.sealed[8:16])
        before = "nothing" if taken.manifest.root_cid is None else self.symbol(taken.manifest.root_cid)
        self.roots[f"{revision} after {before}"] = taken.root_cid
        self.answer("upload", f" {revision} after {before}")

    async def pin(self, pin: Any) -> Any:
        self.answer("pin", f" {self.symbol(pin.cid)}")
        return SimpleNamespace(status="pinned", request_id="1")

    async def pins(self, **_: Any) -> list[Any]:
        self.answer("list pins")
        return []

    async def unpin(self, request_id: str) -> None:
        self.answer("unpin", f" {request_id}")

    async def publish(self, _name: str, record: bytes) -> None:
        self.answer("publish", f" {record.decode()}")


async def _unused() -> Any:
    return SimpleNamespace(locked=True, did=None, initialized=False)


def sealed(revision: int) -> bytes:
    """Return the clear header of a sealed vault without keys, followed by nothing."""
    return b"HFDB\x01\x00" + struct.pack(">HQ", len(DID), revision) + bytes(28) + DID.encode()


def _error(answer: Any) -> ServiceError:
    """Return the error that an answer of a scenario stands for."""
    if answer == "lost":
        return NetworkError("no answer")
    if answer == "conflict":
        return SnapshotConflict("other")
    code, status = answer["refused"]
    return RequestRefused(code, status)


def _all(state: SnapshotState) -> dict[str, Any]:
    """Return all fields of a state under their JSON names, also those with their default values."""
    return {
        re.sub("_(.)", lambda it: it[1].upper(), name): value for name, value in msgspec.structs.asdict(state).items()
    }


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda it: f"_{it[0].lower()}", name)
