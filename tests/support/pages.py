"""A site of a few pages on localhost, for a browser to visit."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pages(BaseHTTPRequestHandler):
    """A site of a few pages; quiet."""

    headers_of_all: tuple[tuple[str, str], ...] = ()

    def page(self) -> tuple[bytes, str]:
        """Content and its type for `self.path`; empty where there is none."""
        raise NotImplementedError

    def do_GET(self) -> None:
        body, kind = self.page()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        for name, value in self.headers_of_all:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@contextlib.contextmanager
def serving(pages: type[Pages]) -> Iterator[str]:
    """The address of `pages` on localhost, for as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
