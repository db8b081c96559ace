"""A headless Chromium, which all tests share; each test has separate browser contexts, with pages on localhost."""

import shutil
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Error, async_playwright
from tests.support.built_client import build_if_older
from tests.support.connecting_apps import App
from tests.support.page_visits import GENEROUS
from tests.support.pages import serving
from tests.support.passkeys import Authenticator, new_page, visit
from tests.support.paying import Person as Payer
from tests.support.paying import Shop
from tests.support.payment_window import no_confirm_page
from tests.support.serving import running_server
from tests.support.soak import SOAK

HERE = Path(__file__).parent
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
if not SOAK:  # animations cost a tenth of the processor's time; the pages have none for who prefers this
    FLAGS.append("--force-prefers-reduced-motion")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


# Debian's build of Chromium without a window. The whole browser starts pages of its own interface for each new context;
# only it has payment windows and reads a profile's settings.
WITHOUT_WINDOW = "chromium-headless-shell"
WHOLE = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium(*, whole=True):
    names = WHOLE if whole else (WITHOUT_WINDOW, *WHOLE)
    found = next((path for name in names if (path := shutil.which(name))), None) or (str(MAC) if MAC.exists() else None)
    assert found, "no Chromium on this machine: make setup installs it or says what to install"
    return found


@pytest.fixture(scope="session", autouse=True)
def built():
    build_if_older()


def pytest_collection_modifyitems(items):
    """Run this folder's tests in the session's event loop, to which the browser belongs."""
    shared = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(shared, append=False)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A service for all tests that need no settings of their own; its operator has set its DID."""
    folder = tmp_path_factory.mktemp("shared")
    own = {"HOLDFAST_REGISTRAR_DID": "did:web:registrar.example", **GENEROUS}
    with running_server(folder / "data", folder / "log.txt", **own) as server:
        yield server


@pytest.fixture(scope="module")
def undeclared(tmp_path_factory):
    """A service whose DID follows from its address, as the client supposes unless it is told another."""
    folder = tmp_path_factory.mktemp("undeclared")
    with running_server(folder / "data", folder / "log.txt", **GENEROUS) as server:
        yield server


class Chromium:
    """A browser of the session; if a test stops it, the next test starts it again."""

    def __init__(self, playwright, *, whole):
        self._playwright, self._whole = playwright, whole
        self._browser = None
        self.kept = set()

    async def running(self):
        if self._browser is None or not self._browser.is_connected():
            launch = self._playwright.chromium.launch
            program = chromium(whole=self._whole)
            self._browser = await launch(executable_path=program, args=FLAGS, timeout=120_000)
        return self._browser

    async def close(self):
        if self._browser is not None:
            await self._browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browsers():
    """The whole browser, and the one without a window. Each starts when a test first needs it."""
    async with async_playwright() as playwright:
        shared = {whole: Chromium(playwright, whole=whole) for whole in (True, False)}
        yield shared
        for each in shared.values():
            await each.close()


@pytest.fixture(scope="module")
def session_chromium(request, browsers):
    return browsers[SOAK or request.node.get_closest_marker("whole_browser") is not None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def kept_context(session_chromium):
    """A browser profile that all tests of a module share, for what takes long to prepare."""
    context = await (await session_chromium.running()).new_context()
    session_chromium.kept.add(context)
    yield context
    session_chromium.kept.discard(context)
    await context.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tab(kept_context, shared):
    """A page with the client, for all tests of a module."""
    return await new_page(kept_context, shared)


@pytest_asyncio.fixture(loop_scope="session")
async def page(tab, shared):
    """The module's page, loaded anew."""
    await tab.unroute_all()
    await visit(tab, shared)
    return tab


@pytest_asyncio.fixture(loop_scope="session")
async def authenticator(page):
    """A virtual authenticator in the module's page."""
    made = await Authenticator.of(page)
    yield made
    await made.session.detach()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def person_with_money(kept_context, chain):
    """A person with a vault on the chain and money, who pays in all tests of a module."""
    assert kept_context.browser
    person = await Payer.registered(kept_context.browser, chain, kept_context)
    chain.give(person.account, 500_000_000)
    return person


@pytest_asyncio.fixture(loop_scope="session")
async def payer(person_with_money):
    """The module's payer, without the shops and payment windows of earlier tests."""
    context = person_with_money.context
    yield person_with_money
    for page in set(context.pages) - {person_with_money.page}:
        await page.close()
    assert context.browser
    await no_confirm_page(context.browser)


@pytest.fixture
def app():
    """The address of an app on another origin, which opens /connect."""
    with serving(App) as address:
        yield address


@pytest.fixture
def shop():
    """The address of a shop on another origin, which asks for payments."""
    with serving(Shop) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def browser(session_chromium):
    """The browser, in which nothing remains that an earlier test opened or stored."""
    running = await session_chromium.running()
    yield running
    for context in set(running.contexts) - session_chromium.kept:
        # A page may still be loading files when its test has ended; their requests end with the context.
        for routed in (context, *context.pages):
            await unrouted(routed)
        await context.close()


async def unrouted(routed):
    """End the interception of requests; a window that closes itself meanwhile has none left."""
    try:
        await routed.unroute_all(behavior="ignoreErrors")
    except Error as error:
        if "has been closed" not in error.message:
            raise
