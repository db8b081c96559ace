"""Load from clients that record their requests and the responses, to be checked afterwards."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Self

import aiohttp
from tests.support.linearizability import UNKNOWN, Operation, explained
from tests.support.nodes import Nodes

KINDS = ("session", "credential", "address", "code")
GROUPS = (3, 3, 2)  # eight clients; those in a group share a key, so that a wrong response cannot go unnoticed
PER_CLIENT = 8  # operations per client and key
_CLAIMS = 3  # how many of these may be writes
_PATIENCE_S = 30.0
_AFTER_FAILURE_S = 0.05
_CODE = re.compile(r"\b(\d{6})\b")
_ADDRESSES = itertools.count(1)
_WORDS = {"The code is incorrect.": "incorrect"}


@dataclass(frozen=True, slots=True)
class Answer:
    at: float
    took: float
    status: int
    error: str | None
    retry_after: str | None


class NotSent(Exception):
    """Raised if the node could not be reached, so that no request was sent."""


class RecordedLoad:
    """Eight clients in groups. Each group works on one key after another, and sends each request to a random node.

    If `balancer`, the address of a proxy in front of the nodes, is given, each request goes there over a new
    connection.
    """

    def __init__(self, nodes: Nodes, seed: int = 1, balancer: str | None = None) -> None:
        self._nodes = nodes
        self._balancer = balancer
        self._chance = random.Random(seed)
        self._run = secrets.token_hex(5)  # no key is used again, so that the load can run twice against a store
        self._numbers = itertools.count(1)
        self._stopping = asyncio.Event()
        self._groups: list[asyncio.Task[None]] = []
        self._left = inf
        self.histories: list[tuple[str, list[Operation]]] = []
        self.answers: list[Answer] = []

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_PATIENCE_S),
            connector=aiohttp.TCPConnector(force_close=self._balancer is not None),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        for group in self._groups:
            group.cancel()
        await asyncio.gather(*self._groups, return_exceptions=True)
        await self._http.close()

    # -- running ---------------------------------------------------------------------------------------------------

    def start(self, operations: float = inf) -> None:
        """Run until `finish` is called or this many operations have been recorded."""
        self._left = operations
        self._groups = [asyncio.create_task(self._group(size)) for size in GROUPS]

    async def finish(self, *, stop: bool = True) -> None:
        """Wait until all operations are done or, with `stop`, only until each group has finished its current key."""
        if stop:
            self._stopping.set()
        await asyncio.gather(*self._groups)

    async def _group(self, size: int) -> None:
        while not self._stopping.is_set() and self._left > 0:
            number = next(self._numbers)
            kind = KINDS[number % len(KINDS)]
            self._left -= size * PER_CLIENT
            history: list[Operation] = []
            self.histories.append((kind, history))
            await _PLAYS[kind](self, f"{self._run}{number:06d}", size, history)

    def counts(self) -> Counter[str]:
        return Counter(f"{answer.status} {answer.error or ''}".strip() for answer in self.answers)

    @property
    def operations(self) -> int:
        return sum(len(history) for _, history in self.histories)

    def unexplained(self) -> list[tuple[str, list[Operation]]]:
        return [(kind, history) for kind, history in self.histories if not explained(kind, history)]

    # -- kinds of keys -----------------------------------------------------------------------------------------------

    async def play_session(self, key: str, size: int, history: list[Operation]) -> None:
        async def claim() -> None:
            did = self._did()
            await self._write(history, "claim", did, self._open(f"s{key}", did, self._address()), "won", "lost")

        async def read() -> None:
            await self._read(history, f"/api/aliases/check?alias=s{key}", lambda found: found.get("did"))

        await self._mix(size, claim, read)

    async def play_credential(self, key: str, size: int, history: list[Operation]) -> None:
        async def claim() -> None:
            did = self._did()
            await self._write(history, "claim", did, self._register(f"c{key}{did[-12:]}", key, did), "won", "lost")

        async def read() -> None:
            path = f"/api/dids/lookup?credentialId={key.encode().hex()}"
            await self._read(history, path, lambda found: found.get("did"))

        await self._mix(size, claim, read)

    async def play_address(self, key: str, size: int, history: list[Operation]) -> None:
        ip = self._address()

        async def claim() -> None:
            did = self._did()
            name = f"a{key}{did[-12:]}"
            await self._write(history, "open", name, self._open(name, did, ip), "opened", "refused")

        async def read() -> None:
            await self._read(history, "/api/sessions/status", lambda found: found["ip_registrations"], ip)

        await self._mix(size, claim, read)

    async def play_code(self, key: str, size: int, history: list[Operation]) -> None:
        """Run two rounds: in each, one client has a code sent, and all clients then try correct and wrong codes."""
        mail, ip = f"k{key}@example.com", self._address()
        for _ in range(2):
            code = await self._send_code(history, mail, ip)
            if code is None:
                return

            async def check(right: str = code) -> None:
                given = right if self._chance.random() < 0.3 else f"{(int(right) + 1) % 10**6:06d}"
                await self._check_code(history, mail, given, ip)

            await self._each(size, PER_CLIENT // 2, check)

    async def _send_code(self, history: list[Operation], mail: str, ip: str) -> str | None:
        """Return the code that was sent, or None if the request got no response."""
        called = time.monotonic()
        body = {"identifier": mail, "channel": "email"}
        try:
            answer, _ = await self._ask("POST", "/api/verify/send", ip, body)
        except NotSent:
            return None
        if answer.status != 200:
            assert answer.status in {0, 503}, answer
            return None
        code = _code_in([node.data / "outbox" for node in self._nodes.running], mail)
        history.append(Operation(called, time.monotonic(), "send", code, "sent"))
        return code

    async def _check_code(self, history: list[Operation], mail: str, code: str, ip: str) -> None:
        called = time.monotonic()
        body = {"identifier": mail, "channel": "email", "code": code}
        try:
            answer, found = await self._ask("POST", "/api/verify/check", ip, body)
        except NotSent:
            return
        if answer.status == 200:
            result = "verified" if found["verified"] else _WORDS.get(found["message"], "refused")
            history.append(Operation(called, time.monotonic(), "check", code, result))
        else:
            assert answer.status in {0, 503}, answer
            history.append(Operation(called, inf, "check", code, UNKNOWN))

    # -- requests --------------------------------------------------------------------------------------------------

    async def _mix(self, size: int, write: Callable[[], Awaitable[None]], read: Callable[[], Awaitable[None]]) -> None:
        """Have each client read and write, with most of the writes at the beginning, and then make a final read."""
        await self._each(size, _CLAIMS, self._either(write, read, 0.6))
        await self._each(size, PER_CLIENT - _CLAIMS, self._either(write, read, 0.1))
        await read()

    def _either(
        self, write: Callable[[], Awaitable[None]], read: Callable[[], Awaitable[None]], share: float
    ) -> Callable[[], Awaitable[None]]:
        """Return a function that writes in the given share of its calls, and otherwise reads."""

        async def act() -> None:
            await (write() if self._chance.random() < share else read())

        return act

    async def _each(self, size: int, turns: int, act: Callable[[], Awaitable[None]]) -> None:
        async def client() -> None:
            for _ in range(turns):
                await act()

        await asyncio.gather(*(client() for _ in range(size)))

    async def _write(
        self, history: list[Operation], name: str, value: str, asked: Awaitable[Any], done: str, refused: str
    ) -> None:
        called = time.monotonic()
        try:
            answer, _ = await asked
        except NotSent:
            return
        if answer.status in {200, 409, 429}:
            result = done if answer.status == 200 else refused
            history.append(Operation(called, time.monotonic(), name, value, result))
        else:
            assert answer.status in {0, 503}, answer
            history.append(Operation(called, inf, name, value, UNKNOWN))

    async def _read(
        self, history: list[Operation], path: str, value: Callable[[Any], Any], ip: str | None = None
    ) -> None:
        called = time.monotonic()
        try:
            answer, found = await self._ask("GET", path, ip or self._address())
        except NotSent:
            return
        if answer.status == 200:
            history.append(Operation(called, time.monotonic(), "read", None, value(found)))

    def _open(self, name: str, did: str, ip: str) -> Awaitable[Any]:
        return self._post("/api/sessions", {"handle": name, "did": did}, ip)

    def _register(self, name: str, credential: str, did: str) -> Awaitable[Any]:
        body = {"credentialId": credential.encode().hex(), "identifier": name, "channel": "handle", "did": did}
        return self._post("/api/dids", {**body, "txHash": "0x" + did[-64:]}, self._address())

    def _post(self, path: str, body: dict[str, str], ip: str) -> Awaitable[Any]:
        return self._ask("POST", path, ip, body)

    async def _ask(self, method: str, path: str, ip: str, body: dict[str, str] | None = None) -> tuple[Answer, Any]:
        url = (self._balancer or self._chance.choice(self._nodes.running).url) + path
        began = time.monotonic()
        try:
            async with self._http.request(method, url, json=body, headers={"X-Forwarded-For": ip}) as response:
                found = await response.json()
                error, again = found.get("error"), response.headers.get("Retry-After")
                answer = Answer(began, time.monotonic() - began, response.status, error, again)
        except aiohttp.ClientConnectorError as unreachable:
            await asyncio.sleep(_AFTER_FAILURE_S)
            raise NotSent from unreachable
        except (aiohttp.ClientError, TimeoutError) as broken:
            found, answer = None, Answer(began, time.monotonic() - began, 0, type(broken).__name__, None)
        self.answers.append(answer)
        if answer.status in {0, 503}:
            await asyncio.sleep(_AFTER_FAILURE_S)
        return answer, found

    def _did(self) -> str:
        return f"did:new:0x{self._chance.getrandbits(256):064x}"

    def _address(self) -> str:
        """Return an IP address that no other request uses, so that only the limit under test can be reached."""
        number = next(_ADDRESSES)
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _code_in(outboxes: Sequence[Path], mail: str) -> str:
    for file in (file for outbox in outboxes for file in outbox.glob("*.eml")):
        text = file.read_text()
        found = _CODE.search(text.split("Subject:")[-1])
        if mail in text and found:
            file.unlink()
            return found[1]
    raise AssertionError("no code was sent")


_PLAYS: dict[str, Callable[[RecordedLoad, str, int, list[Operation]], Awaitable[None]]] = {
    "session": RecordedLoad.play_session,
    "credential": RecordedLoad.play_credential,
    "address": RecordedLoad.play_address,
    "code": RecordedLoad.play_code,
}
