"""A browser connects to no port on which the local world runs what would respond to web pages."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from tests.support.pages import Pages, serving
from tests.support.serving import PATIENCE_S

from holdfast.world.ports import BLOCKED_IN_BROWSERS, out_of_browsers_reach

if TYPE_CHECKING:
    from playwright.async_api import Browser

TRY = """
async (url) => {
  await fetch(`http://${url}/`, { mode: "no-cors" }).catch(() => {});
  await new Promise((resolve) => {
    try { new WebSocket(`ws://${url}/`).onerror = resolve; } catch { resolve(); }
  });
}
"""


class Foreign(Pages):
    def page(self) -> tuple[bytes, str]:
        return b"<!doctype html><title>Foreign</title>", "text/html"


async def test_a_page_reaches_no_blocked_port(browser: Browser) -> None:
    page, (host, _) = await browser.new_page(), out_of_browsers_reach()
    with serving(Foreign) as address:
        await page.goto(address)
        for port in BLOCKED_IN_BROWSERS:
            with socket.create_server((host, port)) as listener:
                await page.evaluate(TRY, f"{host}:{port}")
                listener.setblocking(False)
                with pytest.raises(BlockingIOError):
                    listener.accept()


async def test_a_page_reaches_another_port(browser: Browser) -> None:
    page, (host, _) = await browser.new_page(), out_of_browsers_reach()
    with serving(Foreign) as address, socket.create_server((host, 0)) as listener:
        await page.goto(address)
        await page.evaluate("(url) => void new WebSocket(url)", f"ws://{host}:{listener.getsockname()[1]}/")
        listener.settimeout(PATIENCE_S)
        listener.accept()[0].close()
