"""The heaviest requests that the service's limits allow, on every path and header, and what each costs the event loop."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

from holdfast.service.web.application import Application
from holdfast.service.web.asgi import AsgiEntry
from holdfast.service.web.rsgi import RsgiEntry

HEAD = 60_000  # characters of a path, a query or a header: servers take a head of at most 64 KiB
BODY = 64 * 1024
BUNDLER_BODY = 512 * 1024


@dataclass(frozen=True)
class Heavy:
    """A request; `path` may have a query."""

    name: str
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Cost:
    """What one request cost the thread of the event loop: the least of several tries."""

    status: int
    calls: int
    cpu_s: float


@dataclass
class Exchange:
    answered: Awaitable[None]
    status: int = 0
    body: bytes = b""


class Meter:
    """Sends requests to an application on this thread and measures them."""

    def __init__(self, application: Application) -> None:
        self._entry = AsgiEntry(application)
        self._addresses = (f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}" for n in itertools.count(1))

    async def cost(self, heavy: Heavy, tries: int = 5) -> Cost:
        """Return what a request costs. Each try comes from another address."""
        times = []
        status = 0
        for _ in range(tries):
            exchange = self._exchange(heavy)
            begun = time.thread_time()
            await exchange.answered
            times.append(time.thread_time() - begun)
            status = exchange.status
        return Cost(status, await self._calls(heavy), min(times))

    async def status(self, heavy: Heavy) -> int:
        return (await self.exchange(heavy)).status

    async def exchange(self, heavy: Heavy) -> Exchange:
        exchange = self._exchange(heavy)
        await exchange.answered
        return exchange

    async def _calls(self, heavy: Heavy) -> int:
        count = 0

        def note(_frame: Any, event: str, _arg: Any) -> None:
            nonlocal count
            count += event in {"call", "c_call"}

        exchange = self._exchange(heavy)
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            await exchange.answered
        finally:
            sys.setprofile(before)
        return count

    def _headers(self, heavy: Heavy) -> dict[str, str]:
        return {"x-forwarded-for": next(self._addresses), **heavy.headers}

    def _exchange(self, heavy: Heavy) -> Exchange:
        raw, _, query = heavy.path.partition("?")
        scope: dict[str, Any] = {
            "type": "http", "method": heavy.method, "path": unquote(raw), "raw_path": raw.encode(),
            "query_string": query.encode(), "client": ("127.0.0.1", 1),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in self._headers(heavy).items()],
        }  # fmt: skip

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": heavy.body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            else:
                exchange.body += message.get("body", b"")

        exchange = Exchange(self._entry(scope, receive, send))
        return exchange


class RsgiMeter(Meter):
    """Sends the requests to the other entry, as granian does."""

    def __init__(self, application: Application) -> None:
        super().__init__(application)
        self._rsgi = RsgiEntry(application)

    def _exchange(self, heavy: Heavy) -> Exchange:
        raw, _, query = heavy.path.partition("?")
        scope = SimpleNamespace(
            proto="http", http_version="1.1", method=heavy.method, path=unquote(raw), query_string=query,
            client="127.0.0.1:1", headers=_RsgiHeaders({n.lower(): v for n, v in self._headers(heavy).items()}),
        )  # fmt: skip
        protocol = _RsgiProtocol(heavy.body)
        exchange = protocol.exchange = Exchange(self._rsgi.__rsgi__(scope, protocol))
        return exchange


class _RsgiHeaders(dict[str, str]):
    def get_all(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


class _RsgiProtocol:
    """A request's body and the responder, of which the cost test needs only the status."""

    exchange: Exchange

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __call__(self) -> bytes:
        return self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    def response_empty(self, status: int, _headers: object) -> None:
        self.exchange.status = status

    def response_bytes(self, status: int, _headers: object, _body: object) -> None:
        self.exchange.status = status

    def response_file(self, status: int, _headers: object, path: str) -> None:
        self.exchange.status = status
        threading.Thread(target=Path(path).read_bytes, daemon=True).start()


def filled(item: str, length: int, between: str = ",") -> str:
    return between.join([item] * (length // (len(item) + len(between))))


JSON_VALUES: dict[str, str] = {
    "nested lists": "[" * 500 + "]" * 500,
    "very deep lists": "[" * 30_000 + "]" * 30_000,
    "small lists": "[" + filled("[]", 60_000) + "]",
    "small objects": "[" + filled('{"":0}', 60_000) + "]",
    "names": "{" + ",".join(f'"{n:x}":0' for n in range(6_000)) + "}",
    "one long integer": "9" * 60_000,
    "long integers": "[" + filled("9" * 4_000, 60_000) + "]",
    "integers of 20 digits": "[" + filled("9" * 20, 60_000) + "]",
    "floats": "[" + filled("1.7976931348623157e308", 60_000) + "]",
    "a long float": "0." + "1" * 59_000,
    "escapes": '"' + "\\u00e9" * 9_900 + '"',
    "a long text": '"' + "a" * 60_000 + '"',
    "a text of marks": '"' + "i\u0307\u0323" * 10_000 + '"',
    "a text of ligatures": '"' + "\ufdfa" * 19_000 + '"',
}
TEXTS = (
    "a" * 50_000, "\ufdfa" * 320, "i\u0307" * 160, "é" * 320, "x@" + "ß." * 150 + "de", "+" + "1" * 300, "\uff05" * 300,
    "\u1100\u1161\u11a8" * 100, "a\u0300\u0323" * 100, "xn--" + "a" * 300 + "@xn--" + "b" * 50 + ".xn--c", "." * 300, "@" * 300,
    "\u0430" * 63, "\u0131" * 64, "did:" + "a:" * 250,
)  # fmt: skip


def bodies(endpoint: str, fields: tuple[str, ...]) -> Iterator[Heavy]:
    """Yield heavy JSON bodies for an endpoint: in an unknown field, in every field, and as the whole body."""
    path = endpoint
    for name, value in JSON_VALUES.items():
        yield Heavy(f"{path}: {name} besides", "POST", path, body=('{"x":' + value + "}").encode()[:BODY])
        yield Heavy(f"{path}: {name} alone", "POST", path, body=value.encode()[:BODY])
        share = dict.fromkeys(fields)
        each = (
            json.dumps(share).replace("null", value)
            if len(value) * len(fields) < BODY
            else json.dumps(share).replace("null", value, 1)
        )
        yield Heavy(f"{path}: {name} in fields", "POST", path, body=each.encode()[:BODY])
    for number, text in enumerate(TEXTS):
        body = json.dumps(dict.fromkeys(fields, text) | {"channel": "email"}, ensure_ascii=False).encode()
        yield Heavy(f"{path}: text {number}", "POST", path, body=body[:BODY])
        body = json.dumps(dict.fromkeys(fields, text) | {"channel": "handle"}, ensure_ascii=False).encode()
        yield Heavy(f"{path}: handle {number}", "POST", path, body=body[:BODY])


QUERIES = {
    "many": filled("a=b", HEAD, "&"),
    "empty": "&" * HEAD,
    "escapes": "a=" + "%41" * (HEAD // 3),
    "plus": "a=" + "+" * HEAD,
    "escaped pairs": filled("%41=%42", HEAD, "&"),
    "eight KiB of pairs": filled("%41=%42", 8000, "&"),
    "eight KiB of escapes": "identifier=" + "%C3%A9" * 1300,
}
HEADERS = {
    "authorization": ("Bearer C" + "A" * 8100, "Bearer " + "C" * HEAD, "Bearer" + " " * HEAD, "Bearer C" + "é" * 5000),
    "accept": (
        "," * HEAD, filled("a;b=c", HEAD, ";"), filled("application/vnd.ipld.car;order=x", HEAD),
        "application/vnd.ipld.car;" + filled("a=b", HEAD, ";"), filled("*/*;q=0.5", HEAD), ";" * HEAD,
        "application/vnd.ipld.car;q=0." + "0" * HEAD,
    ),
    "accept-encoding": (filled("gzip;q=0.5", HEAD), "," * HEAD, ";" * HEAD),
    "accept-language": (filled("de;q=0.5", HEAD), "," * HEAD, "-" * HEAD, filled("x-y", HEAD)),
    "if-none-match": (filled('W/"a"', HEAD), "," * HEAD, '"' * HEAD, filled('"a" ', HEAD)),
    "if-modified-since": ("x" * HEAD,),
    "if-range": ("x" * HEAD,),
    "range": ("bytes=" + filled("0-1", HEAD), "bytes=" + " " * HEAD + "0-1", "bytes=" + "9" * HEAD + "-"),
    "cache-control": (filled("no-cache", HEAD), "only-if-cached" * 4000),
    "content-type": (
        "multipart/form-data;" + filled("a=b", HEAD, ";"), "multipart/form-data; boundary=" + "\\" * HEAD,
        'multipart/form-data; boundary="' + '\\"' * (HEAD // 2), "multipart/form-data" + ";" * HEAD,
        "multipart/form-data; " + filled("filename*=utf-8''%41", HEAD, ";"),
    ),
    "content-length": ("9" * HEAD, "0" * HEAD),
    "content-encoding": (filled("gzip", HEAD), " " * HEAD),
    "x-forwarded-for": (filled("192.0.2.1", HEAD), "," * HEAD, filled("::ffff:1.2.3.4%x", HEAD), "[" * HEAD, "1" * HEAD),
    "x-request-id": ("a" * HEAD, "a" * 128),
    "idempotency-key": ("a" * HEAD, '"' + "a" * 126 + '"', '"' * HEAD),
    "traceparent": ("0" * HEAD, "00-" + "0" * 32 + "-" + "1" * 16 + "-01"),
    "tracestate": (filled("a=b", HEAD),),
    "origin": ("https://" + "a" * HEAD,),
    "sec-fetch-site": ("a" * HEAD,),
    "host": ("a" * HEAD,),
    "cookie": (filled("a=b", HEAD, ";"),),
    "user-agent": ("a" * HEAD,),
    "service-worker": ("a" * HEAD,),
}  # fmt: skip
PATHS = (
    "/" + "a" * HEAD, "/" * HEAD, "/ipfs/" + "a" * HEAD, "/ipfs/" + filled("a", HEAD, "/"), "/ipfs/" + "%41" * (HEAD // 3),
    "/ipfs/bafkqa" + "a" * HEAD, "/ipfs/bafkqa" + "a" * 120, "/ipns/k" + "z" * HEAD, "/ipns/k" + "z" * 79,
    "/ipns/z" + "z" * 79, "/ipns/12D3Koo" + "z" * 72, "/routing/v1/ipns/k" + "z" * HEAD, "/pins/" + "a" * HEAD,
    "/api/indexer/" + filled("a", HEAD, "/"), "/api/indexer/" + "%41" * (HEAD // 3), "/api/indexer/api/dids/" + "%2e" * (HEAD // 3),
    "/api/indexer/api/dids/" + "é" * 100, "/client/" + filled("..", HEAD, "/"), "/client/" + "a" * HEAD, "//pins" + "/" * HEAD,
    "/routing/v1/" + "a/" * (HEAD // 2), "/1.0/identifiers/" + "a:" * (HEAD // 2), "/1.0/identifiers/did:new:" + "%41" * (HEAD // 3),
)  # fmt: skip
