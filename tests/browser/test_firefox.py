"""The pages in a real Firefox ESR with a virtual authenticator and a running service.

Registration, return, second passkey, backup. Firefox lacks the Payment Request API and the WebAuthn Signal API.
"""

import pytest
from tests.support import firefox as firefox_program
from tests.support.firefox_visits import FirefoxAuthenticator, FirefoxVisit
from tests.support.serving import becomes_true

pytestmark = [pytest.mark.soak, pytest.mark.skipif(firefox_program.program() is None, reason=firefox_program.MISSING)]
PASSWORD = "correct horse battery"


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


def test_register_lock_and_unlock(visit):
    visit.inspect("start")
    visit.register("alice")
    visit.inspect("safety")
    visit.press("later")
    visit.screen("home")
    visit.told("Registered as alice")
    visit.find('[data-status="pinned"]')
    visit.inspect("vault")
    did = visit.text('[data-name="did"]')
    visit.press("lock")
    visit.screen("unlock")
    visit.inspect("locked")
    visit.press("passkey")
    visit.screen("home")
    visit.open("/vault")  # a return: the pending autofill request is replaced by the prompt
    visit.screen("unlock")
    visit.press("passkey")
    visit.screen("home")
    assert visit.text('[data-name="did"]') == did
    assert visit.complaints() == []


def test_a_person_who_is_not_recognised_tries_again(visit, new_authenticator):
    new_authenticator(isUserConsenting=False)
    visit.press("register")
    visit.fill("handle", "alice")
    visit.press("submit")
    visit.screen("passkey")
    visit.press("create")
    visit.told("No passkey was used. Nothing changed.", "#alert")
    visit.inspect("passkey-refused")
    new_authenticator()
    visit.press("create")
    visit.screen("safety")


def test_a_second_passkey_opens_the_vault_without_the_first(visit, new_authenticator):
    visit.register("alice")
    visit.press("later")
    visit.screen("home")
    visit.press("add")
    visit.told("This device already has a passkey for your vault.", "#alert")
    visit.inspect("passkey-excluded")
    second = new_authenticator()
    visit.press("add")
    visit.told("The passkey is ready.", "#status")
    assert len(second.credentials()) == 1
    assert visit.count("[data-credential]") == 2
    visit.inspect("vault-two-passkeys")
    visit.press("remove")
    visit.find("dialog[open]")
    visit.press("yes")
    visit.told("The passkey is removed.", "#status")
    visit.press("lock")
    visit.press("passkey")
    visit.screen("home")
    assert visit.count("[data-credential]") == 1


def test_a_backup_opens_in_another_profile(visit, place, tmp_path):
    visit.register("alice")
    visit.press("later")
    did = visit.text('[data-name="did"]')
    visit.press("export")
    visit.screen("export")
    visit.fill("new-password", PASSWORD)
    visit.fill("new-password-again", PASSWORD)
    visit.press("submit")
    visit.told("The file is saved.", "#status")
    file = downloaded(place)
    with firefox_program.running(tmp_path / "other") as other_firefox:
        other = FirefoxVisit(other_firefox, visit.server)
        FirefoxAuthenticator(other_firefox)
        other.open("/vault")
        other.screen("none")
        other.inspect("none")
        other.press("import")
        other.fill("file", str(file))
        other.fill("password", "wrong horse battery")
        other.press("submit")
        other.told("The password is wrong, or the file is damaged.", "#alert")
        other.inspect("import-refused")
        other.fill("password", PASSWORD)
        other.press("submit")
        other.screen("home")
        assert other.text('[data-name="did"]') == did
        other.press("add")
        other.told("The passkey is ready.", "#status")
        other.press("lock")
        other.press("passkey")
        other.screen("home")
        assert other.complaints() == []


def downloaded(place):
    """Wait until the only download is complete; Firefox first writes it under a temporary name."""
    found = []

    def is_complete():
        found[:] = list((place / "downloads").glob("*"))
        return [path.suffix for path in found] == [".mtrv"] and found[0].stat().st_size > 0

    assert becomes_true(is_complete), found
    return found[0]
