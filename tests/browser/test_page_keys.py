"""The keys of an account on the vault page: owners, guardians, and accounts that guardians and the service bring back."""

import asyncio
import re
import secrets
import sqlite3
from contextlib import closing
from email import message_from_bytes
from email.policy import default

import pytest
from playwright.async_api import expect
from tests.support.chain_service import chain_service
from tests.support.outboxes import codes_to
from tests.support.page_visits import GERMAN, Visit, person

from holdfast.chain.signers import key_id

pytestmark = pytest.mark.timeout(600)
HOUR = 3600
OWNERS, GUARDIANS = '[data-card="owners"]', '[data-card="guardians"]'


@pytest.fixture(scope="module")
def moved_chain(tmp_path_factory):
    """A separate chain, because the tests move its clock."""
    with chain_service(tmp_path_factory.mktemp("world")) as service:
        yield service


async def keys(visit):
    await visit.press("keys", then="keys")


async def filled(visit, within, **fields):
    """Open a part of the screen that is folded, if it is, fill its fields, and submit."""
    summary = visit.page.locator(f"{within} > summary")
    if await summary.count():
        await summary.click()
    await visit.submit(within, **fields)


async def changed(visit, said):
    await visit.told(said, "#status")
    await visit.screen("keys")


async def agrees(visit, *shown, status=""):
    """Compare what a question shows, and answer with yes."""
    words = "".join((await visit.text("dialog")).split())
    assert [it for it in shown if it.replace(" ", "") not in words] == []
    await visit.press("yes", "dialog", status=status)


async def has_guardian_with_an_hour(visit, guardian, account):
    """Choose a guardian by name, and an hour for stopping a recovery."""
    await keys(visit)
    await filled(visit, f"{GUARDIANS} form", guardian=guardian)
    await visit.page.locator("dialog").wait_for()
    await visit.inspect(f"keys-guardian-asked-{await visit.page.get_attribute('html', 'lang')}")
    await agrees(visit, guardian, account, "did:new:")
    await visit.told(guardian, GUARDIANS)
    await an_hour_suffices(visit)


async def an_hour_suffices(visit):
    await visit.page.locator('[data-name="change-terms"] > summary').click()
    await visit.page.select_option('[name="delay"]', str(HOUR))
    await visit.inspect(f"keys-guardians-{await visit.page.get_attribute('html', 'lang')}")
    await visit.press("submit", '[data-name="change-terms"]')


def owners(chain, account):
    return int.from_bytes(chain.call(account, "accountSettings()")[64:96])


def is_owner(chain, account, signer):
    return chain.call(account, "keyState(bytes32)", key_id(bytes.fromhex(signer[2:])))[31] == 1


async def code_of(visit):
    return await visit.text('[data-name="code"] .mono')


@pytest.mark.soak  # tests/client/flows/test_account_commands.py stops one in the gate
async def test_keys_are_added_and_removed_and_a_recovery_is_stopped_with_one_touch(browser, moved_chain):
    chain = moved_chain
    friend, friend_name, friend_account = await person(browser, chain)
    owner, owner_name, account = await person(await browser.new_context(**GERMAN), chain)
    await has_guardian_with_an_hour(owner, friend_name, friend_account)
    await changed(owner, "Geändert auf")
    await owner.press("add-passkey")
    await changed(owner, "Geändert auf")
    await expect(owner.page.locator(f"{OWNERS} li")).to_have_count(2)
    await filled(owner, '[data-name="other-owner"]', owner=friend_name)
    await agrees(owner, friend_name, friend_account)
    await changed(owner, "Geändert auf")
    assert owners(chain, account) == 3
    owner_key = await code_of(owner)
    await keys(friend)
    await filled(friend, '[data-name="back-account"]', old=owner_name)
    await friend.told("Careful: other keys can use this account too", "dialog")
    assert await friend.page.locator(f'dialog [data-signer="{owner_key}"]').count() == 1
    await friend.press("no", "dialog")
    await owner.page.locator(f'{OWNERS} li:has-text("{friend_name}") [data-name="remove-owner"]').click()
    await owner.press("yes", "dialog")
    await changed(owner, "Geändert auf")
    assert owners(chain, account) == 2
    friend_key = await code_of(friend)
    await filled(friend, '[data-name="help"]', lost=owner_name, fresh=friend_key)
    await agrees(friend, owner_name, account, friend_key, "Compare this code", status="Unless it is stopped")
    await owner.press("back")
    await owner.told("Jemand verlangt Ihr Konto", '[data-name="takeover"]')
    assert await owner.page.locator(f'[data-name="takeover"] [data-signer="{friend_key}"]').count() == 1
    await owner.inspect("takeover-de")
    await owner.press("stop", status="angehalten. Ihre Schlüssel bleiben, wie sie sind.")
    assert int.from_bytes(chain.call(account, "pendingRecovery()")[:32]) == 0
    assert owner.complaints == friend.complaints == []


def mails(chain, to):
    """Return the mails to an address, the oldest first."""
    files = sorted((chain.data / "outbox").glob("*.eml"))
    found = (message_from_bytes(file.read_bytes(), policy=default) for file in files)
    return [mail for mail in found if mail["To"] == to]


async def notices(chain, to, number):
    """Wait until the service's job has sent so many mails about recoveries, and return their texts."""
    for _ in range(600):
        found = [mail for mail in mails(chain, to) if mail["Message-ID"].startswith("<recovery-")]
        if len(found) >= number:
            return [body.get_content() for mail in found if (body := mail.get_body(("plain",)))]
        await asyncio.sleep(0.1)
    raise AssertionError("no mail about the recovery")


def wait_is_over(chain):
    """Move the service's time: its waiting time for all requests is over."""
    with closing(sqlite3.connect(chain.data / "holdfast.db", timeout=30)) as database, database:
        database.execute("UPDATE recovery_requests SET ready_at = 0 WHERE ready_at IS NOT NULL")


async def person_with_mail(context, chain):
    """Register a person by e-mail; return the visit, the address and the account."""
    visit, address = await Visit.of(context, chain.server), f"p{secrets.token_hex(5)}@example.com"
    await visit.choose("email", address, then="passkey")
    await visit.press("create", then="prove")
    await visit.page.locator('[name="code"]').wait_for()
    await visit.fill("code", codes_to(address, chain.data)[-1])
    await visit.screen("safety")
    await visit.press("later", then="home")
    return visit, address, (await visit.text('[data-name="address"]')).replace(" ", "")


async def asks_the_service(visit, chain, address, name):
    """Ask the service for an old account by e-mail, and return the account that it names."""
    await filled(visit, '[data-name="ask-service"]', **{"service-to": address})
    await visit.screen("keys-code")
    await visit.fill("recovery-code", codes_to(address, chain.data)[-1])
    await visit.inspect(f"keys-code-{name}")
    await visit.press("submit", then="keys-asked")
    await visit.inspect(f"keys-asked-{name}")
    account = (await visit.text('[data-name="lost-account"]')).replace(" ", "")
    await visit.press("back", then="keys")
    return account


def quorum(chain, account):
    return int.from_bytes(chain.call(account, "accountSettings()")[160:192])


async def tries_the_account(visit, chain, address, account):
    await visit.press("back")
    await visit.press("try-account", then="drill-account")
    await visit.inspect("drill-account-en")
    assert await visit.page.locator('[data-finding="tried"]').count() == 2
    assert await visit.page.locator('[data-finding="failed"]').count() == 0
    await visit.told("Your account takes a new key when 2 of them agree. You then have 1 hour to stop it.")
    await visit.told(f"has your address: {address}")
    assert int.from_bytes(chain.call(account, "pendingRecovery()")[:32]) == 0, "nothing has changed"
    await visit.press("back")
    assert await visit.page.get_attribute('[data-way="account"]', "data-tried") == "true"


@pytest.mark.soak  # tests/client/flows/test_several_chains.py in the gate
async def test_who_has_only_the_mail_left_gets_the_account_back_by_a_friend_and_the_service(browser, moved_chain):
    chain = moved_chain
    friend, friend_name, _ = await person(browser, chain)
    lost, address, account = await person_with_mail(await browser.new_context(), chain)
    chain.give(account, 20_000_000)
    await keys(lost)
    await filled(lost, f"{GUARDIANS} form", guardian=friend_name)
    await lost.press("yes", "dialog", status="Changed on")
    await lost.press("add-service")
    await lost.told("All your e-mail addresses are told.", "dialog")
    await lost.press("yes", "dialog")
    await lost.told("2 people must agree.", GUARDIANS)
    assert quorum(chain, account) == 2
    await lost.inspect("keys-service-en")
    await an_hour_suffices(lost)
    await changed(lost, "Changed on")
    await tries_the_account(lost, chain, address, account)
    await lost.page.context.close()

    fresh, _, fresh_account = await person(browser, chain)
    await keys(fresh)
    fresh_key = await fresh.text('[data-name="code"] .mono')
    assert await asks_the_service(fresh, chain, address, "en") == account != fresh_account
    (asked,) = await notices(chain, address, 1)
    assert account in asked
    await the_mail_stops_it(browser, fresh.server, asked)
    assert await asks_the_service(fresh, chain, address, "again") == account
    await keys(friend)
    await filled(friend, '[data-name="help"]', lost=account, fresh=fresh_key, alert="agrees on")
    wait_is_over(chain)
    await friend.press("submit", '[data-name="help"]')
    await friend.press("yes", "dialog", status="Unless it is stopped")
    (started,) = [it for it in await notices(chain, address, 3) if "stop-recovery" not in it]
    assert account in started
    chain.rpc("evm_increaseTime", HOUR + 1)
    chain.mine()
    await filled(fresh, '[data-name="back-account"]')
    await fresh.press("yes", "dialog", status="You are using your old account now.")
    assert (await fresh.text('[data-name="address"]')).replace(" ", "") == account
    assert is_owner(chain, account, fresh_key)
    assert len(await notices(chain, address, 3)) == 3
    assert fresh.complaints == friend.complaints == []


async def the_mail_stops_it(browser, server, mail):
    """Stop the request by the mail's link, in a browser without the vault."""
    stop = re.search(r"/vault#stop-recovery=[0-9a-f]{32}", mail)
    assert stop
    stopping = await Visit.of(await browser.new_context(), server, stop[0])
    await stopping.screen("stop-service")
    await stopping.inspect("stop-service-en")
    await stopping.press("stop-service")
    await stopping.told("Stopped.")
    assert stopping.complaints == []
