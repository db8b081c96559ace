"""Registering and signing with Holdfast from another origin: the example app, its server, and pages that mean harm."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.page_visits import Visit
from tests.support.pages import Pages, serving
from tests.support.passkeys import Authenticator
from tests.support.serving import becomes_true

from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.async_api import Browser, BrowserContext, Page
    from tests.support.serving import Server

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "app"


class App(Pages):
    """Any other page."""

    def page(self) -> tuple[bytes, str]:
        return b"<!doctype html><title>App</title><button>Go</button>", "text/html"


class IsolatedApp(App):
    headers_of_all = (("Cross-Origin-Opener-Policy", "same-origin"),)


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


@pytest.fixture
def example(server: Server) -> Iterator[str]:
    """The example app's own server."""
    port = free_port()
    arguments = [sys.executable, str(EXAMPLE / "server.py"), f"http://localhost:{server.port}", str(port)]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    try:
        assert becomes_true(lambda: answers(port)), "the example's server does not listen"
        yield f"http://localhost:{port}/"
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


async def clicked(page: Page, server: Server, selector: str = "button") -> Visit:
    """Click in the app; the window that opens, with an authenticator."""
    async with page.expect_popup() as opening:
        await page.click(selector)
    window = Visit(await opening.value, server)
    window.authenticator = await Authenticator.of(window.page)
    return window


async def registered(window: Visit, handle: str) -> None:
    """From the first screen of the window to the question."""
    await window.screen("start")
    await window.choose("handle", handle)
    await window.screen("passkey")
    await window.press("create")
    await window.screen("safety")
    await window.press("later")
    await window.screen("consent")


async def allow(window: Visit) -> None:
    await window.page.locator('[data-name="allow"]:enabled').click()


async def test_the_example_app_registers_a_person_and_verifies_the_signature(
    browser: Browser, server: Server, example: str
) -> None:
    assert sum(len(file.read_text().splitlines()) for file in EXAMPLE.iterdir() if file.is_file()) < 100
    page = await browser.new_page()
    await page.goto(example)
    window = await clicked(page, server, "#sign:enabled")
    await window.told(example.rstrip("/"), ".asker")
    await registered(window, "ada")
    assert await window.text('[data-name="origin"]') == example.rstrip("/")
    assert await window.text('[data-name="signs"]') == "I sign the guest book."
    did = await window.text('[data-name="did"]')
    await window.inspect("connect-consent")
    await allow(window)
    await page.locator("#outcome", has_text=f"Signed by {did}").wait_for()
    assert window.page.is_closed() or await window.page.wait_for_event("close")
    assert window.complaints == []
