"""A real Chromium, without a window, on pages of localhost."""

from __future__ import annotations

import contextlib
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import async_playwright

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import Browser

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((path for name in names if (path := shutil.which(name))), None) or (str(MAC) if MAC.exists() else None)
    assert found, "no Chromium on this machine: make setup installs it or says what to install"
    return found


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=120_000)
        yield launched
        await launched.close()


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
