"""A browser connects to no port on which the local world runs what would respond to web pages."""

import socket
from contextlib import ExitStack

import pytest
from tests.support.pages import Pages, serving
from tests.support.serving import PATIENCE_S

from holdfast.world.ports import BLOCKED_IN_BROWSERS, out_of_browsers_reach

TRY = """
(urls) => Promise.all(urls.map(async (url) => {
  await fetch(`http://${url}/`, { mode: "no-cors" }).catch(() => {});
  await new Promise((resolve) => {
    try { new WebSocket(`ws://${url}/`).onerror = resolve; } catch { resolve(); }
  });
}))
"""


class Foreign(Pages):
    def page(self):
        return b"<!doctype html><title>Foreign</title>", "text/html"


async def test_a_page_reaches_no_blocked_port_and_any_other(browser):
    page, (host, _) = await browser.new_page(), out_of_browsers_reach()
    with serving(Foreign) as address, ExitStack() as opened:
        await page.goto(address)
        listeners = [opened.enter_context(socket.create_server((host, port))) for port in BLOCKED_IN_BROWSERS]
        await page.evaluate(TRY, [f"{host}:{port}" for port in BLOCKED_IN_BROWSERS])
        for listener in listeners:
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept()
        other = opened.enter_context(socket.create_server((host, 0)))
        await page.evaluate("(url) => void new WebSocket(url)", f"ws://{host}:{other.getsockname()[1]}/")
        other.settimeout(PATIENCE_S)
        other.accept()[0].close()
