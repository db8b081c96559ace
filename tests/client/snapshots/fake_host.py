"""A fake snapshot service, which can be unreachable, refuse requests, and return false data or old records."""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

import httpx2

from holdfast.content import cars, records
from holdfast.content.errors import ContentError


@dataclass
class FakeHost:
    """Handles the client's requests as documented for Holdfast's service.

    Attributes:
        lost_requests: how many of the next requests never arrive.
        lost_answers_to: methods and paths whose next response is lost.
        steps: the statuses that a new pin goes through, one each time it is read.
        details: `status_details` of every pin.
        lie: return wrong bytes for every block; the hosts in `liars` do so in any case.
        names: IPNS names by credential.
    """

    blocks: dict[str, bytes] = field(default_factory=dict)
    records: dict[str, bytes] = field(default_factory=dict)
    pins: dict[str, dict] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    steps: tuple[str, ...] = ("queued", "pinning", "pinned")
    lost_requests: int = 0
    lost_answers_to: set[str] = field(default_factory=set)
    details: str | None = None
    lie: bool = False
    names: dict[str, str] = field(default_factory=dict)
    liars: set[str] = field(default_factory=set)
    _made: int = 0

    @property
    def transport(self):
        return httpx2.MockTransport(self.answer)

    def answer(self, request):
        method, path = request.method, request.url.path
        self.requests.append((method, path))
        if self.lost_requests:
            self.lost_requests -= 1
            raise httpx2.ConnectError("lost")
        if path.startswith(("/api/v0", "/pins")):
            self.tokens.append(request.headers.get("authorization", ""))
        answered = self._answer(method, path, request)
        kind = next((kind for kind in self.lost_answers_to if kind in f"{method} {path}"), None)
        if kind is not None:
            self.lost_answers_to.discard(kind)
            raise httpx2.ReadError("lost")
        return answered

    def _answer(self, method, path, request):
        if path == "/api/v0/dag/import":
            return self.import_file(request)
        if path.startswith("/pins"):
            return self._pins(method, path.removeprefix("/pins").strip("/"), request)
        if path.startswith("/ipfs/"):
            return self._block(path.removeprefix("/ipfs/"), lie=self.lie or request.url.host in self.liars)
        if path == "/api/snapshots/name":
            found = self.names.get(parse_qs(request.url.query.decode())["credentialId"][0])
            return httpx2.Response(200, json={"found": bool(found), **({"name": found} if found else {})})
        if path.startswith(("/ipns/", "/routing/v1/ipns/")):
            return self._record(method, unquote(path.rpartition("/")[2]), request)
        return httpx2.Response(404, json={"error": "not_found"})

    def import_file(self, request):
        found = re.fullmatch(rb"--(\w+)\r\n.*?\r\n\r\n(.*)\r\n--\1--\r\n", request.content, re.DOTALL)
        assert found, "a multipart body"
        root, blocks = cars.read_car(found[2])
        self.blocks.update(blocks)
        return httpx2.Response(200, content=json.dumps({"Root": {"Cid": {"/": root}, "PinErrorMsg": ""}}) + "\n")

    def _pins(self, method, name, request):
        if method == "POST":
            self.pins.pop(name, None)  # which the new one replaces
            self._made += 1
            request_id = f"r{self._made}"
            pin = {"requestid": request_id, "created": "2026-01-01T00:00:00Z", "delegates": ["/ip4/1.1.1.1/p2p/Q"]}
            self.pins[request_id] = {**pin, "status": self.steps[0], "pin": json.loads(request.content), "at": 0}
            return httpx2.Response(202, json=self.pins[request_id])
        if not name:
            asked = parse_qs(request.url.query.decode())
            assert asked["meta"]
            listed = [pin for pin in self.pins.values() if pin["status"] in asked["status"][0].split(",")][::-1]
            return httpx2.Response(200, json={"count": len(listed), "results": listed})
        if name not in self.pins:
            return httpx2.Response(404, json={"error": {"reason": "NOT_FOUND", "details": "no such pin"}})
        if method == "DELETE":
            del self.pins[name]
            return httpx2.Response(202)
        pin = self.pins[name]
        pin["at"] = min(pin["at"] + 1, len(self.steps) - 1)
        pin["status"] = self.steps[pin["at"]]
        return httpx2.Response(200, json=pin | ({"info": {"status_details": self.details}} if self.details else {}))

    def _block(self, cid, *, lie):
        if cid not in self.blocks:
            return httpx2.Response(404)
        data = self.blocks[cid]
        return httpx2.Response(200, content=bytes([data[0] ^ 1]) + data[1:] if lie else data)

    def _record(self, method, name, request):
        if method == "GET":
            found = self.records.get(name)
            return httpx2.Response(200, content=found) if found else httpx2.Response(404)
        try:
            given = records.read_record(name, request.content)
        except ContentError:
            return httpx2.Response(400, json={"error": {"reason": "BAD_REQUEST"}})
        known = records.read_record(name, self.records[name]) if name in self.records else None
        if records.compare_records(known, given) in {records.Change.OLDER, records.Change.CONFLICT}:
            return httpx2.Response(409, json={"error": {"reason": "RECORD_DOES_NOT_RISE"}})
        self.records[name] = request.content
        return httpx2.Response(200)
