"""A small site on localhost, for a browser to visit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tests.support.http_servers import Handler, http_server


class Pages(Handler):
    """Serves a small site without logging."""

    headers_of_all: tuple[tuple[str, str], ...] = ()

    def page(self) -> tuple[bytes, str]:
        """Return the content and content type for `self.path`, which are empty if there is no such page."""
        raise NotImplementedError

    def do_GET(self) -> None:  # noqa: N802 - the base class's name
        body, kind = self.page()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        for name, value in self.headers_of_all:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def serving(pages: type[Pages]) -> Iterator[str]:
    with http_server(pages) as port:
        yield f"http://localhost:{port}/"
