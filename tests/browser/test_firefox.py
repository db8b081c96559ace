"""The pages in a real Firefox ESR with a virtual authenticator and a running service.

Registration, return, second passkey, backup. Firefox lacks the Payment Request API and the WebAuthn Signal API.
"""

import json
from pathlib import Path

import axe_playwright_python
import pytest
from tests.support import firefox as firefox_program
from tests.support.marionette import ELEMENT
from tests.support.page_visits import WIDER
from tests.support.serving import PATIENCE_S, becomes_true

pytestmark = [pytest.mark.soak, pytest.mark.skipif(firefox_program.program() is None, reason=firefox_program.MISSING)]
PASSWORD = "correct horse battery"
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

    def __init__(self, firefox, server):
        self.firefox, self.server = firefox, server
        self.address = f"http://localhost:{server.port}"
        firefox.send("WebDriver:SetTimeouts", implicit=PATIENCE_S * 1000, script=PATIENCE_S * 1000)
        firefox.send("WebDriver:SetWindowRect", width=1280, height=900)

    def open(self, path):
        self.firefox.send("WebDriver:Navigate", url=self.address + path)

    def run(self, script, *given):
        return self.firefox.send("WebDriver:ExecuteScript", script=script, args=list(given), sandbox=None)

    def find(self, selector):
        """Wait until an element is in the page and return its reference."""
        return self.firefox.send("WebDriver:FindElement", using="css selector", value=selector)[ELEMENT]

    def text(self, selector):
        return self.firefox.send("WebDriver:GetElementText", id=self.find(selector))

    def screen(self, name):
        self.find(f'main[data-screen="{name}"]')

    def press(self, name, within="main", *, then="", status="", alert=""):
        """Press the named button; wait for the screen that it leads to, and for what the page says then."""
        self.firefox.send("WebDriver:ElementClick", id=self.find(f'{within} [data-name="{name}"]'))
        if then:
            self.screen(then)
        if status or alert:
            self.told(status or alert, "#status" if status else "#alert")

    def fill(self, field, value):
        """Replace a field's content; for a file field, `value` is a path."""
        element = self.find(f'[name="{field}"]')
        if self.run("return arguments[0].type", {ELEMENT: element}) != "file":
            self.firefox.send("WebDriver:ElementClear", id=element)
        self.firefox.send("WebDriver:ElementSendKeys", id=element, text=value)

    def told(self, words, place="main"):
        """Wait until an element of the page contains the given text."""
        shown = "return document.querySelector(arguments[0])?.textContent ?? ''"
        assert becomes_true(lambda: words in self.run(shown, place)), (words, self.run(shown, "body"))

    def chooses(self, handle):
        self.press("register")
        self.fill("handle", handle)
        self.told(f"{handle} is free.")
        self.press("submit", then="passkey")

    def inspect(self, name):
        """Assert that the screen fits 360 px, and that axe reports no violation in light and dark mode."""
        self.run(AXE + ";window.axe = axe;")
        for scheme, number in SCHEMES.items():
            self._in_browser(SCHEME, number)
            found = self.firefox.send("WebDriver:ExecuteAsyncScript", script=RUN_AXE, args=[], sandbox=None)
            assert found == [], f"{name}, {scheme}"
        self._resize(360, zoom=2)
        assert self.run(f"return {WIDER}") == [], f"{name}: wider than 360 px"
        self._resize(1280, zoom=1)

    def _resize(self, width, zoom):
        """Show `width` CSS pixels.

        Firefox's windows cannot be 360 pixels wide, but a window of 720 pixels at 200 % zoom has the same layout.
        """
        self._in_browser(ZOOM, zoom)
        self.firefox.send("WebDriver:SetWindowRect", width=width * zoom, height=900)
        assert becomes_true(lambda: self.run("return innerWidth") == width), f"the window is not {width} px wide"

    def complaints(self):
        """Return all CSP violations and uncaught errors since Firefox was started."""
        return self._in_browser(COMPLAINTS, self.address)

    def _in_browser(self, script, *given):
        """Run a script with the browser's privileges instead of the page's."""
        self.firefox.send("Marionette:SetContext", value="chrome")
        try:
            return self.firefox.send("WebDriver:ExecuteScript", script=script, args=list(given))
        finally:
            self.firefox.send("Marionette:SetContext", value="content")


class FirefoxAuthenticator:
    """A virtual authenticator that all tabs of one Firefox share."""

    def __init__(self, firefox, **changes):
        self._firefox = firefox
        self.id = firefox.send("WebAuthn:AddVirtualAuthenticator", **{**AUTHENTICATOR, **changes})

    def credentials(self):
        found = self._firefox.send("WebAuthn:GetCredentials", authenticatorId=self.id)
        return list(found if isinstance(found, list) else json.loads(found))

    def remove(self):
        self._firefox.send("WebAuthn:RemoveVirtualAuthenticator", authenticatorId=self.id)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("firefox")


@pytest.fixture(scope="module")
def firefox(place):
    """One Firefox for all tests here; each test has a separate service, and so a separate origin and storage."""
    with firefox_program.running(place) as running:
        yield running


@pytest.fixture
def new_authenticator(firefox):
    """Return a function that replaces the current virtual authenticator with a new one."""
    present = []

    def change(**options):
        while present:
            present.pop().remove()
        present.append(FirefoxAuthenticator(firefox, **options))
        return present[0]

    yield change
    for added in present:
        added.remove()


@pytest.fixture
def visit(firefox, serve, new_authenticator):
    """The start page of a service, in a Firefox with a virtual authenticator."""
    new_authenticator()
    visit = FirefoxVisit(firefox, serve())
    visit.open("/")
    visit.screen("start")
    return visit


def test_a_person_registers_returns_and_changes_passkeys(visit, new_authenticator):
    visit.inspect("start")
    new_authenticator(isUserConsenting=False)
    visit.chooses("alice")
    visit.press("create", alert="No passkey was used. Nothing changed.")
    visit.inspect("passkey-refused")
    new_authenticator()
    visit.press("create", then="safety")
    visit.inspect("safety")
    visit.press("later", then="home")
    visit.told("Registered as alice")
    visit.find('[data-status="pinned"]')
    did = visit.text('[data-name="did"]')
    visit.press("lock", then="unlock")
    visit.inspect("locked")
    visit.press("passkey", then="home")
    visit.open("/vault")  # a return: the pending autofill request is replaced by the prompt
    visit.screen("unlock")
    visit.press("passkey", then="home")
    assert visit.text('[data-name="did"]') == did
    changes_passkeys(visit, new_authenticator)
    assert visit.complaints() == []


def changes_passkeys(visit, new_authenticator):
    """Add a second passkey, remove the first, and open the vault with the second."""
    visit.press("add", alert="This device already has a passkey for your vault.")
    second = new_authenticator()
    visit.press("add", status="The passkey is ready.")
    assert len(second.credentials()) == 1
    visit.inspect("vault-two-passkeys")
    visit.press("remove")
    visit.find("dialog[open]")
    visit.press("yes", status="The passkey is removed.")
    visit.press("lock")
    visit.press("passkey", then="home")
    assert visit.run("return document.querySelectorAll('[data-credential]').length") == 1


def test_a_backup_opens_in_another_profile(visit, place, tmp_path):
    visit.chooses("alice")
    visit.press("create", then="safety")
    visit.press("later")
    did = visit.text('[data-name="did"]')
    visit.press("export", then="export")
    visit.fill("new-password", PASSWORD)
    visit.fill("new-password-again", PASSWORD)
    visit.press("submit", status="The file is saved.")
    file = downloaded(place)
    with firefox_program.running(tmp_path / "other") as other_firefox:
        other = FirefoxVisit(other_firefox, visit.server)
        FirefoxAuthenticator(other_firefox)
        other.open("/vault")
        other.screen("none")
        other.press("import")
        other.fill("file", str(file))
        other.fill("password", "wrong horse battery")
        other.press("submit", alert="The password is wrong, or the file is damaged.")
        other.inspect("import-refused")
        other.fill("password", PASSWORD)
        other.press("submit", then="home")
        assert other.text('[data-name="did"]') == did
        other.press("add", status="The passkey is ready.")
        other.press("lock")
        other.press("passkey", then="home")
        assert other.complaints() == []


def downloaded(place):
    """Wait until the only download is complete; Firefox first writes it under a temporary name."""
    found = []

    def is_complete():
        found[:] = list((place / "downloads").glob("*"))
        return [path.suffix for path in found] == [".mtrv"] and found[0].stat().st_size > 0

    assert becomes_true(is_complete), found
    return found[0]
