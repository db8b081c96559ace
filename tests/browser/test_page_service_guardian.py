"""The service as a guardian on the vault page: chosen, tried, asked by e-mail, and an account that comes back by it."""

from __future__ import annotations

import asyncio
import re
import secrets
import sqlite3
from contextlib import closing
from email import message_from_bytes
from email.policy import default
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.support.chain_service import chain_service
from tests.support.page_visits import GERMAN, Visit, person

from holdfast.chain.signers import key_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage

    from playwright.async_api import Browser, BrowserContext
    from tests.support.chain_service import ChainService

pytestmark = pytest.mark.timeout(600)
HOUR = 3600
GUARDIANS = '[data-card="guardians"]'


@pytest.fixture(scope="module")
def moved_chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    """A separate chain and service, because the tests move their clocks."""
    with chain_service(tmp_path_factory.mktemp("world")) as service:
        yield service


def mails(chain: ChainService, to: str) -> list[EmailMessage]:
    """Return the mails to an address, the oldest first."""
    files = sorted((chain.data / "outbox").glob("*.eml"))
    found = (message_from_bytes(file.read_bytes(), policy=default) for file in files)
    return [mail for mail in found if mail["To"] == to]


def codes(chain: ChainService, to: str) -> list[str]:
    return [mail["Subject"][-6:] for mail in mails(chain, to) if mail["Subject"][-6:].isdigit()]


async def notices(chain: ChainService, to: str, number: int) -> list[str]:
    """Wait until the service's job has sent so many mails about recoveries, and return their texts."""
    for _ in range(600):
        found = [mail for mail in mails(chain, to) if mail["Message-ID"].startswith("<recovery-")]
        if len(found) >= number:
            return [body.get_content() for mail in found if (body := mail.get_body(("plain",)))]
        await asyncio.sleep(0.1)
    raise AssertionError("no mail about the recovery")


def wait_is_over(chain: ChainService) -> None:
    """Move the service's time: its waiting time for all requests is over."""
    with closing(sqlite3.connect(chain.data / "holdfast.db", timeout=30)) as database, database:
        database.execute("UPDATE recovery_requests SET ready_at = 0 WHERE ready_at IS NOT NULL")


async def person_with_mail(context: BrowserContext, chain: ChainService) -> tuple[Visit, str, str]:
    """Register a person by e-mail; return the visit, the address and the account."""
    server: Any = SimpleNamespace(port=urlsplit(chain.base_url).port)
    visit, address = await Visit.of(context, server), f"p{secrets.token_hex(5)}@example.com"
    await visit.choose("email", address)
    await visit.screen("passkey")
    await visit.press("create")
    await visit.screen("prove")
    await visit.page.locator('[name="code"]').wait_for()
    await visit.fill("code", codes(chain, address)[-1])
    await visit.screen("safety")
    await visit.press("later")
    await visit.screen("home")
    return visit, address, (await visit.text('[data-name="address"]')).replace(" ", "")


async def keys(visit: Visit) -> None:
    await visit.press("keys")
    await visit.screen("keys")


async def filled(visit: Visit, within: str, **fields: str) -> None:
    """Open a folded part of the screen, fill its fields, and submit."""
    summary = visit.page.locator(f"{within} > summary")
    if await summary.count():
        await summary.click()
    for name, value in fields.items():
        await visit.fill(name, value)
    await visit.press("submit", within)


async def an_hour_suffices(visit: Visit, said: str) -> None:
    await visit.page.locator('[data-name="change-terms"] > summary').click()
    await visit.page.select_option('[name="delay"]', str(HOUR))
    await visit.press("submit", '[data-name="change-terms"]')
    await visit.told(said, "#status")


async def asks_the_service(visit: Visit, chain: ChainService, address: str, name: str) -> str:
    """Ask the service for an old account by e-mail, and return the account that it names."""
    await filled(visit, '[data-name="ask-service"]', **{"service-to": address})
    await visit.screen("keys-code")
    await visit.fill("recovery-code", codes(chain, address)[-1])
    await visit.inspect(f"keys-code-{name}")
    await visit.press("submit")
    await visit.screen("keys-asked")
    await visit.inspect(f"keys-asked-{name}")
    account = (await visit.text('[data-name="lost-account"]')).replace(" ", "")
    await visit.press("back")
    await visit.screen("keys")
    return account


def quorum(chain: ChainService, account: str) -> int:
    return int.from_bytes(chain.call(account, "accountSettings()")[160:192])


def is_owner(chain: ChainService, account: str, signer: str) -> bool:
    return chain.call(account, "keyState(bytes32)", key_id(bytes.fromhex(signer[2:])))[31] == 1


async def tries_the_account(visit: Visit, chain: ChainService, address: str, account: str) -> None:
    await visit.press("back")
    await visit.press("try-account")
    await visit.screen("drill-account")
    await visit.inspect("drill-account-en")
    assert await visit.page.locator('[data-finding="tried"]').count() == 2
    assert await visit.page.locator('[data-finding="failed"]').count() == 0
    await visit.told("Your account takes a new key when 2 of them agree. You then have 1 hour to stop it.")
    await visit.told(f"has your address: {address}")
    assert int.from_bytes(chain.call(account, "pendingRecovery()")[:32]) == 0, "nothing has changed"
    await visit.press("back")
    assert await visit.page.get_attribute('[data-way="account"]', "data-tried") == "true"


@pytest.mark.soak  # tests/client/flows/test_several_chains.py in the gate
async def test_who_has_only_the_mail_left_gets_the_account_back_by_a_friend_and_the_service(
    browser: Browser, moved_chain: ChainService
) -> None:
    chain = moved_chain
    friend, friend_name, _ = await person(browser, chain)
    lost, address, account = await person_with_mail(await browser.new_context(), chain)
    chain.give(account, 20_000_000)
    await keys(lost)
    await filled(lost, f"{GUARDIANS} form", guardian=friend_name)
    await lost.press("yes", "dialog")
    await lost.told("Changed on", "#status")
    await lost.press("add-service")
    await lost.told("All your e-mail addresses are told.", "dialog")
    await lost.press("yes", "dialog")
    await lost.told("2 people must agree.", GUARDIANS)
    assert quorum(chain, account) == 2
    await lost.inspect("keys-service-en")
    await an_hour_suffices(lost, "Changed on")
    await tries_the_account(lost, chain, address, account)
    await lost.page.context.close()

    fresh, _, fresh_account = await person(browser, chain)
    await keys(fresh)
    fresh_key = await fresh.text('[data-name="code"] .mono')
    assert await asks_the_service(fresh, chain, address, "en") == account != fresh_account
    (asked,) = await notices(chain, address, 1)
    assert "/vault#stop-recovery=" in asked and account in asked
    await keys(friend)
    await filled(friend, '[data-name="help"]', lost=account, fresh=fresh_key)
    await friend.alerted("agrees on")
    wait_is_over(chain)
    await friend.press("submit", '[data-name="help"]')
    await friend.press("yes", "dialog")
    await friend.told("Unless it is stopped", "#status")
    _, started = await notices(chain, address, 2)
    assert "stop-recovery" not in started and account in started
    chain.rpc("evm_increaseTime", HOUR + 1)
    chain.mine()
    await filled(fresh, '[data-name="back-account"]')
    await fresh.press("yes", "dialog")
    await fresh.told("You are using your old account now.", "#status")
    assert (await fresh.text('[data-name="address"]')).replace(" ", "") == account
    assert is_owner(chain, account, fresh_key)
    assert len(await notices(chain, address, 2)) == 2
    assert fresh.complaints == friend.complaints == []


@pytest.mark.soak  # test_several_chains.py and vectors/accounts hold the choice in the gate
async def test_the_service_alone_suffices_only_for_who_chose_that_and_a_mail_stops_it(
    browser: Browser, moved_chain: ChainService
) -> None:
    chain = moved_chain
    lost, address, account = await person_with_mail(await browser.new_context(**GERMAN), chain)
    await keys(lost)
    await lost.press("add-service")
    await lost.press("yes", "dialog")
    await lost.told("allein genügen?", "dialog")
    await lost.inspect("keys-alone-de")
    await lost.press("no", "dialog")
    assert await lost.page.locator(f"{GUARDIANS} li").count() == 0, "nothing was signed"
    await lost.press("add-service")
    await lost.press("yes", "dialog")
    await lost.told("allein genügen?", "dialog")
    await lost.press("yes", "dialog")
    await lost.told("Geändert auf", "#status")
    assert quorum(chain, account) == 1
    await an_hour_suffices(lost, "Geändert auf")
    await lost.press("back")
    await lost.press("try-account")
    await lost.screen("drill-account")
    await lost.inspect("drill-account-de")
    await lost.page.context.close()

    fresh, _, _ = await person(await browser.new_context(**GERMAN), chain)
    await keys(fresh)
    fresh_key = await fresh.text('[data-name="code"] .mono')
    assert await asks_the_service(fresh, chain, address, "de") == account
    (asked,) = await notices(chain, address, 1)
    stop = re.search(r"/vault#stop-recovery=[0-9a-f]{32}", asked)
    assert stop
    stopping = await Visit.of(await browser.new_context(**GERMAN), fresh.server, stop[0])
    await stopping.screen("stop-service")
    await stopping.inspect("stop-service-de")
    await stopping.press("stop-service")
    await stopping.told("Angehalten.")
    wait_is_over(chain)
    await filled(fresh, '[data-name="back-account"]')
    await fresh.alerted("Niemand hat verlangt")
    assert await asks_the_service(fresh, chain, address, "de") == account
    await filled(fresh, '[data-name="back-account"]')
    await fresh.alerted("stimmt am")
    wait_is_over(chain)
    await fresh.press("submit", '[data-name="back-account"]')
    await fresh.press("yes", "dialog")
    await fresh.told("Es ist verlangt. Sie können es ab", "#status")
    chain.rpc("evm_increaseTime", HOUR + 1)
    chain.mine()
    await filled(fresh, '[data-name="back-account"]')
    await fresh.press("yes", "dialog")
    await fresh.told("Sie benutzen jetzt Ihr altes Konto.", "#status")
    assert is_owner(chain, account, fresh_key)
    assert fresh.complaints == stopping.complaints == []
