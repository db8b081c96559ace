"""Simulates a person who uses the service's pages in Firefox: screens, clicks, passkeys, screenshots."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import axe_playwright_python
from tests.support.marionette import ELEMENT, Marionette
from tests.support.page_visits import SHOTS, WIDER
from tests.support.serving import PATIENCE_S, Server, becomes_true

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RUN_AXE = """
const told = arguments[arguments.length - 1];
axe.run().then((found) => told(found.violations.map((it) => it.id + ": " + it.nodes.map((node) => node.html))), (error) => told([String(error)]));
"""
AUTHENTICATOR = {
    "protocol": "ctap2_1", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserConsenting": True, "isUserVerified": True,
}  # fmt: skip
# Firefox's log messages about pages at an address: CSP violations and uncaught errors.
COMPLAINTS = """
return Services.console.getMessageArray()
  .filter((it) => it instanceof Ci.nsIScriptError && (it.sourceName.startsWith(arguments[0]) || it.category.startsWith("CSP")))
  .filter((it) => !(it.flags & Ci.nsIScriptError.warningFlag))
  .map((it) => it.errorMessage);
"""
ZOOM = "gBrowser.selectedBrowser.fullZoom = arguments[0];"
# Firefox's colour schemes: 0 is dark, 1 is light, and 2 is the system's setting.
SCHEME = 'Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", arguments[0]);'
SCHEMES = {"dark": 0, "light": 1}


class FirefoxVisit:
    """A Firefox tab in which a person uses a service."""

    def __init__(self, firefox: Marionette, server: Server) -> None:
        self.firefox, self.server = firefox, server
        self.address = f"http://localhost:{server.port}"
        firefox.send("WebDriver:SetTimeouts", implicit=PATIENCE_S * 1000, script=PATIENCE_S * 1000)
        firefox.send("WebDriver:SetWindowRect", width=1280, height=900)

    def open(self, path: str) -> None:
        self.firefox.send("WebDriver:Navigate", url=self.address + path)

    def run(self, script: str, *given: Any) -> Any:
        return self.firefox.send("WebDriver:ExecuteScript", script=script, args=list(given), sandbox=None)

    def find(self, selector: str) -> str:
        """Wait until an element is in the page and return its reference."""
        found: dict[str, str] = self.firefox.send("WebDriver:FindElement", using="css selector", value=selector)
        return found[ELEMENT]

    def count(self, selector: str) -> int:
        found: int = self.run("return document.querySelectorAll(arguments[0]).length", selector)
        return found

    def text(self, selector: str) -> str:
        found: str = self.firefox.send("WebDriver:GetElementText", id=self.find(selector))
        return found

    def screen(self, name: str) -> None:
        self.find(f'main[data-screen="{name}"]')

    def press(self, name: str, within: str = "main") -> None:
        self.firefox.send("WebDriver:ElementClick", id=self.find(f'{within} [data-name="{name}"]'))

    def fill(self, field: str, value: str) -> None:
        """Replace a field's content; for a file field, `value` is a path."""
        element = self.find(f'[name="{field}"]')
        if self.run("return arguments[0].type", {ELEMENT: element}) != "file":
            self.firefox.send("WebDriver:ElementClear", id=element)
        self.firefox.send("WebDriver:ElementSendKeys", id=element, text=value)

    def told(self, words: str, place: str = "main") -> None:
        """Wait until an element of the page contains the given text."""
        shown = "return document.querySelector(arguments[0])?.textContent ?? ''"
        assert becomes_true(lambda: words in self.run(shown, place)), (words, self.run(shown, "body"))

    def register(self, handle: str) -> None:
        self.press("register")
        self.fill("handle", handle)
        self.told(f"{handle} is free.")
        self.press("submit")
        self.screen("passkey")
        self.press("create")
        self.screen("safety")

    def inspect(self, name: str) -> None:
        """Take light and dark screenshots; assert that the screen fits 360 px and that axe reports no violation."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.run(AXE + ";window.axe = axe;")
        for scheme, number in SCHEMES.items():
            self._in_browser(SCHEME, number)
            found = self.firefox.send("WebDriver:ExecuteAsyncScript", script=RUN_AXE, args=[], sandbox=None)
            assert found == [], f"{name}, {scheme}"
            self._shoot(f"{name}-1280-{scheme}")
        self._resize(360, zoom=2)
        assert self.run(f"return {WIDER}") == [], f"{name}: wider than 360 px"
        self._shoot(f"{name}-360-light")
        self._resize(1280, zoom=1)

    def _resize(self, width: int, zoom: int) -> None:
        """Show `width` CSS pixels.

        Firefox's windows cannot be 360 pixels wide, but a window of 720 pixels at 200 % zoom has the same layout.
        """
        self._in_browser(ZOOM, zoom)
        self.firefox.send("WebDriver:SetWindowRect", width=width * zoom, height=900)
        assert becomes_true(lambda: self.run("return innerWidth") == width), f"the window is not {width} px wide"

    def _shoot(self, name: str) -> None:
        picture = self.firefox.send("WebDriver:TakeScreenshot", full=True)
        (SHOTS / f"firefox-{name}.png").write_bytes(base64.b64decode(picture))

    def complaints(self) -> list[str]:
        """Return all CSP violations and uncaught errors since Firefox was started."""
        found: list[str] = self._in_browser(COMPLAINTS, self.address)
        return found

    def _in_browser(self, script: str, *given: Any) -> Any:
        """Run a script with the browser's privileges instead of the page's."""
        self.firefox.send("Marionette:SetContext", value="chrome")
        try:
            return self.firefox.send("WebDriver:ExecuteScript", script=script, args=list(given))
        finally:
            self.firefox.send("Marionette:SetContext", value="content")


class FirefoxAuthenticator:
    """A virtual authenticator that all tabs of one Firefox share."""

    def __init__(self, firefox: Marionette, **changes: bool) -> None:
        self._firefox = firefox
        self.id: str = firefox.send("WebAuthn:AddVirtualAuthenticator", **{**AUTHENTICATOR, **changes})

    def credentials(self) -> list[dict[str, Any]]:
        found = self._firefox.send("WebAuthn:GetCredentials", authenticatorId=self.id)
        return list(found if isinstance(found, list) else json.loads(found))

    def verify_user(self, verified: bool) -> None:
        self._firefox.send("WebAuthn:SetUserVerified", authenticatorId=self.id, isUserVerified=verified)

    def remove(self) -> None:
        self._firefox.send("WebAuthn:RemoveVirtualAuthenticator", authenticatorId=self.id)
