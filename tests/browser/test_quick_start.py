"""The page in docs/quickstart.md registers and pays, unchanged but for the service's address and the token."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.pages import Pages, serving
from tests.support.passkeys import PATIENCE_MS, Authenticator

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "quickstart.md").read_text("utf-8")
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_the_page_registers_and_pays(browser, chain):
    [text] = re.findall(r"```html\n(.*?)```", PAGE, re.DOTALL)
    text = text.replace("localhost:8787", f"localhost:{urlsplit(chain.base_url).port}")
    text = text.replace("USDC_FROM_THE_TABLE", chain.usdc)

    class Served(Pages):
        def page(self):
            return text.encode(), "text/html"

    with serving(Served) as address:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(address.replace("127.0.0.1", "localhost"))
        await Authenticator.of(page)
        await page.click("#register")
        log = page.locator("#log", has_text="account: ")
        account = re.search(r"account: (0x\w{40})", await log.inner_text())
        assert account is not None
        chain.give(account[1], 1_000_000)
        before = chain.usdc_of(PAYEE)
        await page.click("#pay:enabled")
        await page.locator("#log", has_text="paid: 0x").inner_text()
    assert chain.usdc_of(PAYEE) - before == 1_000_000
