"""Simulates a person who uses the service's pages in Chromium: visits, screens, clicks, screenshots."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, Request, ViewportSize
from playwright.async_api import TimeoutError as PlaywrightTimeout
from tests.support.chain_service import ChainService
from tests.support.passkeys import Authenticator
from tests.support.serving import Server
from tests.support.soak import SOAK

PICTURES = os.environ.get("HOLDFAST_TEST_PICTURES")  # a folder for hundreds of pictures, which no test checks
SHOTS = Path(PICTURES or Path(__file__).parents[2] / "build" / "screenshots")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# Axe in the second scheme: only the rules that judge colors, because all others judge the same page again.
OF_COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
PAGE_PATIENCE_MS = 60_000
SIZES: dict[str, ViewportSize] = {"360": {"width": 360, "height": 740}, "1280": {"width": 1280, "height": 800}}
# Elements that extend beyond the window's right edge.
WIDER = """[...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1)
  .map((it) => it.outerHTML.slice(0, 80))"""

# Elements with an animation or transition longer than 0.01 s.
MOVING = """[...document.querySelectorAll("*")].flatMap((it) => ["", "::before", "::after"].filter((part) => {
    const {animationName, animationDuration, transitionDuration} = getComputedStyle(it, part);
    const times = [...(animationName === "none" ? [] : animationDuration.split(",")), ...transitionDuration.split(",")];
    return times.some((time) => parseFloat(time) > 0.01);
  }).map((part) => it.outerHTML.slice(0, 80) + part))"""
# Elements that are animated although the person prefers reduced motion.
UNWANTED = f"matchMedia('(prefers-reduced-motion: reduce)').matches ? {MOVING} : []"

# The focused element, and whether the focus is visible.
FOCUSED = """(() => {
  const it = document.activeElement;
  const {outlineStyle, outlineWidth} = getComputedStyle(it);
  return {name: it.dataset.name ?? "", field: it.getAttribute("name") ?? "",
          shown: it.matches(":focus-visible") && outlineStyle !== "none" && outlineWidth !== "0px"};
})()"""
MOST_STOPS = 80
# What a failed test says about the page.
STATE = """({screen: document.querySelector("main").dataset.screen, focused: document.activeElement.outerHTML.slice(0, 120),
  active: document.hasFocus(), buttons: [...document.querySelectorAll("button")].map((it) => [it.dataset.name, it.disabled, it.ariaDisabled])})"""
# Browser settings of a person who reads German, uses no mouse, prefers reduced motion and has a narrow window.
GERMAN: dict[str, Any] = {"locale": "de-DE", "reduced_motion": "reduce", "viewport": SIZES["360"]}


# Limits that nobody reaches, although all people of a module's tests come from one address.
GENEROUS: dict[str, Any] = {"MAX_REGISTRATIONS_PER_IP": "1000", "MAX_VERIFY_SENDS_PER_IP": "1000"}
# Deletes the vaults of this browser.
DELETED = "new Promise((done) => { indexedDB.deleteDatabase('holdfast-vault').onsuccess = () => done(null); })"


def new_name() -> str:
    """Return a handle that nobody has, so that the tests of a module can share a service."""
    return "p" + secrets.token_hex(5)


def requested(context: BrowserContext) -> set[str]:
    """Return a set that collects the origins of all later requests from a context's pages and workers."""
    origins: set[str] = set()

    def note(request: Request) -> None:
        parts = urlsplit(request.url)
        origins.add(f"{parts.scheme}://{parts.netloc}")

    context.on("request", note)
    return origins


class Visit:
    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.complaints: list[str] = []
        page.set_default_timeout(PAGE_PATIENCE_MS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda it: self.complaints.append(it.text) if "Content Security Policy" in it.text else None)

    @classmethod
    async def of(
        cls, browser: Browser | BrowserContext, server: Server, path: str = "/", **authenticator: Any
    ) -> Visit:
        visit = cls(await browser.new_page(), server)
        visit.authenticator = await Authenticator.of(visit.page, **authenticator)
        await visit.open(path)
        return visit

    authenticator: Authenticator
    judged = False  # whether axe has judged a screen of this visit

    async def open(self, path: str, *, then: str = "") -> None:
        """Open a page of the service, and wait for a screen of it."""
        await self.page.goto(f"http://localhost:{self.server.port}{path}")
        if then:
            await self.screen(then)

    async def screen(self, name: str) -> None:
        """Wait until a screen is shown; if it never is, say what the page shows instead."""
        try:
            await self.page.locator(f'main[data-screen="{name}"]').wait_for()
        except PlaywrightTimeout as error:
            state = await self.page.evaluate(STATE)
            words = await self.text("body")
            raise AssertionError(f"never on screen {name}: {state} {words} {self.complaints}") from error

    async def press(
        self, name: str, within: str = "main", *, then: str = "", status: str = "", alert: str = ""
    ) -> None:
        """Press the named button; wait for the screen that it leads to, and for what the page says then."""
        await self.page.locator(f'{within} [data-name="{name}"]').first.click()
        if then:
            await self.screen(then)
        if status:
            await self.told(status, "#status")
        if alert:
            await self.alerted(alert)

    async def submit(
        self, within: str = "main", /, *, then: str = "", status: str = "", alert: str = "", **fields: str
    ) -> None:
        """Fill the fields, in whose names `_` stands for a dash, and submit them."""
        for name, value in fields.items():
            await self.fill(name.replace("_", "-"), value)
        await self.press("submit", within, then=then, status=status, alert=alert)

    async def key(self, name: str) -> None:
        """Press the named button using only the keyboard: press Tab until the button is visibly focused, then Enter."""
        for _ in range(MOST_STOPS):
            focused = await self.page.evaluate(FOCUSED)
            if focused["name"] == name:
                assert focused["shown"], f"{name}: the focus does not show"
                await self.page.locator(f'[data-name="{name}"]:focus:not([aria-disabled])').wait_for()
                return await self.page.keyboard.press("Enter")
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {name}: {await self.page.evaluate(STATE)}")

    async def type(self, field: str, value: str) -> None:
        """Reach the named field with Tab, and type the text."""
        for _ in range(MOST_STOPS):
            if (await self.page.evaluate(FOCUSED))["field"] == field:
                await self.page.keyboard.press("Control+A")
                return await self.page.keyboard.type(value)
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {field}: {await self.page.evaluate(STATE)}")

    async def fill(self, field: str, value: str) -> None:
        await self.page.fill(f'[name="{field}"]', value)

    async def text(self, selector: str) -> str:
        return (await self.page.text_content(selector)) or ""

    async def told(self, words: str, place: str = "main") -> None:
        await self.page.locator(place).filter(has_text=words).wait_for()

    async def alerted(self, words: str) -> None:
        await self.told(words, "#alert")

    async def choose(self, field: str, value: str, *, then: str = "") -> None:
        await self.press("register", then="choose")
        if field != "handle":
            await self.press("use-email" if field == "email" else "use-sms")
        await self.submit(**{field: value}, then=then)

    async def register(self, handle: str) -> None:
        await self.choose("handle", handle, then="passkey")
        await self.press("create", then="safety")
        await self.press("later", then="home")

    async def inspect(self, name: str) -> None:
        """Take light and dark screenshots; assert that the screen fits 360 px and that axe reports no violation.

        In the gate axe judges the first screen of each visit, in one scheme, half of them in the dark one; in
        `make soak` all. If the person prefers reduced motion, no element may be animated.
        """
        before = self.page.viewport_size or SIZES["1280"]
        await self.shoot(name)
        await self.page.set_viewport_size(SIZES["360"])
        assert await self.page.evaluate(WIDER) == [], f"{name}: wider than 360 px"
        assert await self.page.evaluate(UNWANTED) == [], f"{name}: moves, though the person wants no motion"
        if SOAK or not self.judged:
            await self._judge(name, SCHEMES if SOAK else SCHEMES[len(name) % 2 :][:1])
        await self.page.set_viewport_size(before)

    async def _judge(self, name: str, schemes: Iterable[Literal["light", "dark"]]) -> None:
        self.judged = True
        for number, scheme in enumerate(schemes):
            await self.page.emulate_media(color_scheme=scheme)
            rules = OF_COLORS if number else {}
            # A page that contains the script needs no other.
            axe = Axe("0") if await self.page.evaluate("'axe' in window") else Axe()
            found = await axe.run(self.page, options={"resultTypes": ["violations"], **rules})
            assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
        await self.page.emulate_media(color_scheme="light")

    async def shoot(self, name: str) -> None:
        """Take screenshots of the current screen, if requested: both sizes, light and dark."""
        if PICTURES:
            await self._picture(name)
        await self.page.set_viewport_size(SIZES["1280"])

    async def _picture(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        for size, view in SIZES.items():
            await self.page.set_viewport_size(view)
            for scheme in SCHEMES:
                await self.page.emulate_media(color_scheme=scheme)
                await self.page.screenshot(path=SHOTS / f"{name}-{size}-{scheme}.png", full_page=True)
        await self.page.emulate_media(color_scheme="light")


async def person(browser: Browser | BrowserContext, chain: ChainService) -> tuple[Visit, str, str]:
    # Each context has a storage of its own, and thus a vault of its own.
    context = await browser.new_context() if hasattr(browser, "new_context") else browser
    visit = await Visit.of(context, chain.server)
    name = new_name()
    await visit.register(name)
    account = (await visit.text('[data-name="address"]')).replace(" ", "")
    return visit, name, account


async def saves_a_backup(visit: Visit, file: Path, password: str) -> None:
    await visit.press("export", then="export")
    await visit.inspect("export")
    await visit.fill("new-password", password)
    await visit.fill("new-password-again", password)
    async with visit.page.expect_download() as download:
        await visit.press("submit")
    await (await download.value).save_as(file)
    await visit.told("The file is saved.", "#status")
    await visit.screen("home")


async def tried(visit: Visit, way: str) -> bool:
    return await visit.page.get_attribute(f'[data-way="{way}"]', "data-tried") == "true"


async def safe(visit: Visit, loss: str) -> bool:
    return await visit.page.get_attribute(f'[data-loss="{loss}"]', "data-safe") == "true"
