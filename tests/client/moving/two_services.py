"""Two services under different hosts, and the wire to them, on which a test lets one lie or everything stop."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
from tests.support.running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OLD, NEW = "http://old.localhost", "http://new.localhost"


class Stopped(BaseException):
    """The program was killed."""


class Wire(httpx.AsyncBaseTransport):
    """Sends requests to the services by their hosts.

    Attributes:
        sent: the requests so far: host, method and path.
        lie: returns another JSON body for a request's host and path; None leaves the body as it is.
        stop_at: the number of the request at which the program dies: one that changes something arrives before.
        hides: the new service has nothing below this path, whatever it has acknowledged.
    """

    def __init__(self, ports: dict[str, int]) -> None:
        self._ports, self._inner = ports, httpx.AsyncHTTPTransport()
        self.sent: list[tuple[str, str, str]] = []
        self.lie: Callable[[str, str, Any], Any] | None = None
        self.stop_at, self.hides = -1, ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host, stops = request.url.host, len(self.sent) == self.stop_at
        if stops and request.method == "GET":
            raise Stopped
        self.sent.append((host, request.method, request.url.path))
        if (
            self.hides
            and request.method == "GET"
            and (host, request.url.path[: len(self.hides)])
            == (
                "new.localhost",
                self.hides,
            )
        ):
            return httpx.Response(404)
        at = request.url.copy_with(host="127.0.0.1", port=self._ports[host])
        there = httpx.Request(request.method, at, headers=request.headers, content=await request.aread())
        answer = await self._inner.handle_async_request(there)
        body = await answer.aread()
        if stops:
            raise Stopped
        if self.lie is None or not answer.headers.get("content-type", "").startswith("application/json"):
            return httpx.Response(answer.status_code, headers=answer.headers, content=body)
        said = self.lie(host, request.url.path, answer.json())
        return httpx.Response(answer.status_code, json=said)

    async def aclose(self) -> None:
        """Stay open for the next client."""

    async def end(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


@contextmanager
def two_services(folder: Path) -> Iterator[dict[str, int]]:
    """Run both; yield their ports by host."""
    given = {"MAX_REGISTRATIONS_PER_IP": "1000", "HOLDFAST_DID_POSTS_PER_ADDRESS_DAY": "1000"}
    for name in ("old", "new"):
        (folder / name).mkdir()
    with (
        running_service(folder / "old", HOLDFAST_PUBLIC_URL=OLD, **given) as old,
        running_service(folder / "new", HOLDFAST_PUBLIC_URL=NEW, **given) as new,
    ):
        yield {
            "old.localhost": int(old.base_url.rpartition(":")[2]),
            "new.localhost": int(new.base_url.rpartition(":")[2]),
        }
