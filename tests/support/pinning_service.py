"""A fake of the IPFS pinning API."""

from __future__ import annotations

import json
from typing import Any


class PinningService:
    """A fake pinning service; each time a pin is read, the pin's status advances by one step."""

    def __init__(self) -> None:
        self.pins: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str]] = []
        self.fails, self.flaky = False, 0

    def __call__(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        self.requests.append((method, path))
        if method == "GET" and self.flaky:
            self.flaky -= 1
            return 503, {"error": {"reason": "BUSY"}}
        name = path.split("?", maxsplit=1)[0].removeprefix("/pins").strip("/")
        if not name:
            return self._collection(method, path, body)
        if name not in self.pins:
            return 404, {"error": {"reason": "NOT_FOUND", "details": "no such pin"}}
        return self._one(method, name, body)

    def _collection(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if method == "GET":
            wanted = path.split("status=")[1].split("&", maxsplit=1)[0].replace("%2C", ",").split(",")
            found = [pin for pin in self.pins.values() if pin["status"] in wanted]
            return 200, {"count": len(found), "results": found}
        return 202, self._new(json.loads(body))

    def _new(self, pin: object) -> dict[str, Any]:
        made: dict[str, Any] = {
            "requestid": f"r{len(self.pins) + 1}",
            "status": "queued",
            "created": "2026-01-01T00:00:00Z",
            "pin": pin,
            "delegates": ["/dnsaddr/pin.example/p2p/Qm"],
            "info": {"status_details": "no provider"},
        }
        self.pins[made["requestid"]] = made
        return dict(made)

    def _one(self, method: str, name: str, body: bytes) -> tuple[int, object]:
        if method == "DELETE":
            del self.pins[name]
            return 202, b""
        if method == "POST":
            del self.pins[name]
            return 202, self._new(json.loads(body))
        pin = self.pins[name]
        order = {"queued": "pinning", "pinning": "failed" if self.fails else "pinned"}
        pin["status"] = order.get(pin["status"], pin["status"])
        return 200, dict(pin)
