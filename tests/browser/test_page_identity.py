"""A DID on the chain from the vault page: deactivated, given a second name and metadata, and handed to another account."""

import secrets

import pytest
from tests.support.page_visits import GERMAN, person

pytestmark = pytest.mark.timeout(300)
OTHER = "0x52908400098527886E0F7030069857D2E4169EE7"


async def agreed(visit, words):
    """Answer a question with yes, after it has said what it means."""
    await visit.told(words, "dialog")
    await visit.press("yes", "dialog")


async def looked_up(visit, name, words):
    await visit.fill("alias", name)
    await visit.press("submit", '[data-card="did-names"]')
    await visit.told(words, '[data-name="alias-found"]')


async def on_identity(browser, chain):
    """Register a person who reads German, and open the screen; return the visit, the name and the account."""
    visit, name, account = await person(await browser.new_context(**GERMAN), chain)
    await visit.press("identity", then="identity")
    return visit, name, account


async def test_a_did_gets_a_second_name_and_is_deactivated(browser, chain):
    visit, name, _ = await on_identity(browser, chain)
    second = f"n{secrets.token_hex(5)}"
    await visit.inspect("identity-de")
    await looked_up(visit, name, "führt zu Ihrer DID")
    await looked_up(visit, second.upper(), f"{second} ist frei.")
    asked = []
    visit.page.on("request", lambda request: asked.append(request.post_data or ""))
    await visit.press("alias-add", status=f"{second} führt jetzt zu Ihrer DID.")
    assert asked and not any("eth_blockNumber" in body for body in asked), "no block is waited for that nothing needs"
    await looked_up(visit, second, "führt zu Ihrer DID")
    await visit.press("deactivate")
    await agreed(visit, "Zahlungen an Ihre Namen scheitern")
    await visit.told("Ihre DID ist inaktiv.", "#status")
    assert await visit.page.locator('[data-card="did-names"]').count() == 0
    assert visit.complaints == []


@pytest.mark.soak  # vectors/accounts/did_calls.json holds the calls in the gate
async def test_a_did_is_described_and_handed_over(browser, chain):
    visit, name, _ = await on_identity(browser, chain)
    await looked_up(visit, name, "führt zu Ihrer DID")
    await visit.press("alias-deactivate")
    await agreed(visit, "Er bleibt Ihnen")
    await visit.told(f"{name} ist inaktiv.", "#status")
    await visit.press("deactivate")
    await agreed(visit, "Apps, die sie prüfen")
    await visit.press("activate", status="Ihre DID ist aktiv.")
    await visit.fill("metadata", "bafymeta")
    await visit.press("submit", '[data-card="did-metadata"]', status="Die Beschreibung ist gespeichert.")
    await visit.fill("controller", OTHER)
    await visit.press("submit", '[data-card="did-control"]')
    await visit.told("verlieren Sie die DID", "dialog")
    await visit.inspect("identity-control-de")
    assert OTHER in (await visit.text("dialog")).replace(" ", "")
    await visit.press("yes", "dialog", status="Das Konto kann die DID jetzt annehmen.")
    await visit.press("language", "footer")
    await visit.told("This account can accept your DID at any time:")
    assert await visit.page.input_value('[name="metadata"]') == "bafymeta"
    assert visit.complaints == []
