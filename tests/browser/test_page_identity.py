"""A DID on the chain from the vault page: deactivated, given a second name and metadata, and handed to another account."""

import asyncio
import secrets
from contextlib import contextmanager

import pytest
from tests.support.page_visits import GERMAN, person
from tests.support.payments import new_vault

import holdfast
from holdfast.client.storage.vault_store import VaultStore

pytestmark = pytest.mark.timeout(300)


@contextmanager
def heir(chain, folder):
    """A client whose account controls no DID yet."""
    with (
        VaultStore(directory=folder) as store,
        new_vault(store, "heir") as vault,
        holdfast.Client(chain.base_url, vault=vault, timeout=60) as client,
    ):
        yield client


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
async def test_a_did_is_described_and_handed_over(browser, chain, tmp_path):
    visit, name, account = await on_identity(browser, chain)
    did = await visit.text('[data-card="did-state"] .mono')
    await looked_up(visit, name, "führt zu Ihrer DID")
    await visit.press("alias-deactivate")
    await agreed(visit, "Er bleibt Ihnen")
    await visit.told(f"{name} ist inaktiv.", "#status")
    await visit.press("deactivate")
    await agreed(visit, "Apps, die sie prüfen")
    await visit.press("activate", status="Ihre DID ist aktiv.")
    await visit.fill("metadata", "bafymeta")
    await visit.press("submit", '[data-card="did-metadata"]', status="Die Beschreibung ist gespeichert.")
    with heir(chain, tmp_path) as client:
        theirs = client.smart_account_address()
        await visit.fill("controller", theirs)
        await visit.press("submit", '[data-card="did-control"]')
        await visit.told("verlieren Sie die DID", "dialog")
        await visit.inspect("identity-control-de")
        assert theirs in (await visit.text("dialog")).replace(" ", "")
        await visit.press("yes", "dialog", status="Das Konto kann die DID jetzt annehmen.")
        await visit.press("language", "footer")
        await visit.told("This account can accept your DID at any time:")
        found = await asyncio.to_thread(client.registered_did, did)
        assert (found.controller, found.metadata, found.proposed) == (account, "bafymeta", theirs)
        alias = await asyncio.to_thread(client.registered_alias, name)
        assert (alias.controller, alias.active) == (account, False)
        await asyncio.to_thread(client.accept_controller, did)
        await visit.press("back", then="home")
        await visit.press("identity")
        await visit.told("Another account controls it", '[data-card="did-state"]')
        await visit.inspect("identity-foreign")
    assert visit.complaints == []
