"""The keys of an account on the vault page: owners, guardians, and an account that guardians bring back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect
from tests.support.chain_service import chain_service
from tests.support.page_visits import GERMAN, Visit, person

from holdfast.chain.signers import key_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Browser
    from tests.support.chain_service import ChainService

pytestmark = pytest.mark.timeout(600)
HOUR = 3600
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
OWNERS, GUARDIANS = '[data-card="owners"]', '[data-card="guardians"]'


@pytest.fixture(scope="module")
def moved_chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    """A separate chain, because the tests move its clock."""
    with chain_service(tmp_path_factory.mktemp("world")) as service:
        yield service


async def keys(visit: Visit) -> None:
    await visit.press("keys")
    await visit.screen("keys")


async def filled(visit: Visit, within: str, **fields: str) -> None:
    """Open a part of the screen that is folded, if it is, fill its fields, and submit."""
    summary = visit.page.locator(f"{within} > summary")
    if await summary.count():
        await summary.click()
    for name, value in fields.items():
        await visit.fill(name, value)
    await visit.press("submit", within)


async def changed(visit: Visit, said: str) -> None:
    await visit.told(said, "#status")
    await visit.screen("keys")


async def agrees(visit: Visit, *shown: str) -> None:
    """Compare what a question shows, and answer with yes."""
    words = "".join((await visit.text("dialog")).split())
    assert [it for it in shown if it.replace(" ", "") not in words] == []
    await visit.press("yes", "dialog")


async def has_guardian_with_an_hour(visit: Visit, guardian: str, account: str) -> None:
    """Choose a guardian by name, and an hour for stopping a recovery."""
    await keys(visit)
    await filled(visit, f"{GUARDIANS} form", guardian=guardian)
    await visit.page.locator("dialog").wait_for()
    await visit.inspect(f"keys-guardian-asked-{await visit.page.get_attribute('html', 'lang')}")
    await agrees(visit, guardian, account, "did:new:")
    await visit.told(guardian, GUARDIANS)
    await visit.page.locator('[data-name="change-terms"] > summary').click()
    await visit.page.select_option('[name="delay"]', str(HOUR))
    await visit.inspect(f"keys-guardians-{await visit.page.get_attribute('html', 'lang')}")
    await visit.press("submit", '[data-name="change-terms"]')


def owners(chain: ChainService, account: str) -> int:
    return int.from_bytes(chain.call(account, "accountSettings()")[64:96])


def is_owner(chain: ChainService, account: str, signer: str) -> bool:
    return chain.call(account, "keyState(bytes32)", key_id(bytes.fromhex(signer[2:])))[31] == 1


async def code_of(visit: Visit) -> str:
    return await visit.text('[data-name="code"] .mono')


async def pays(visit: Visit, chain: ChainService) -> None:
    before = chain.usdc_of(PAYEE)
    await visit.press("send")
    await visit.screen("send")
    await visit.fill("to", PAYEE)
    await visit.fill("amount", "5")
    await visit.press("submit")
    await visit.screen("send-review")
    await visit.press("confirm")
    await visit.screen("send-done")
    assert chain.usdc_of(PAYEE) - before == 5_000_000


async def test_who_loses_the_only_browser_gets_the_account_back_by_a_guardian_and_pays(
    browser: Browser, moved_chain: ChainService
) -> None:
    chain = moved_chain
    guardian, guardian_name, guardian_account = await person(browser, chain)
    lost, lost_name, account = await person(browser, chain)
    chain.give(account, 20_000_000)
    await has_guardian_with_an_hour(lost, guardian_name, guardian_account)
    await changed(lost, "Changed on")
    await lost.told("1 person is enough. You then have 1 hour to stop it.", GUARDIANS)
    lost_key = await code_of(lost)
    await lost.page.context.close()
    fresh, fresh_name, fresh_account = await person(browser, chain)
    await keys(guardian)
    await filled(guardian, '[data-name="help"]', lost=lost_name, fresh=fresh_name)
    await agrees(guardian, lost_name, account, fresh_name, fresh_account)
    await guardian.told("Unless it is stopped", "#status")
    await keys(fresh)
    fresh_key = await code_of(fresh)
    await filled(fresh, '[data-name="back-account"]', old=lost_name)
    await fresh.alerted("You can get it from")
    chain.rpc("evm_increaseTime", HOUR + 1)
    chain.mine()
    await fresh.press("submit", '[data-name="back-account"]')
    await agrees(fresh, lost_name, account, "Only this vault", fresh_key)
    await fresh.told("You are using your old account now.", "#status")
    assert (await fresh.text('[data-name="address"]')).replace(" ", "") == account
    await pays(fresh, chain)
    assert chain.usdc_of(account) == 15_000_000
    assert not is_owner(chain, account, lost_key)
    await fresh.press("done")
    await keys(fresh)
    assert is_owner(chain, account, await code_of(fresh))
    assert fresh.complaints == guardian.complaints == []


async def test_keys_are_added_and_removed_and_a_recovery_is_stopped_with_one_touch(
    browser: Browser, moved_chain: ChainService
) -> None:
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
    await owner.page.locator(f'{OWNERS} li:has-text("{friend_name}") [data-name="remove-owner"]').click()
    await owner.page.locator('dialog [data-name="yes"]').click()
    await changed(owner, "Geändert auf")
    assert owners(chain, account) == 2
    await keys(friend)
    friend_key = await code_of(friend)
    await filled(friend, '[data-name="help"]', lost=owner_name, fresh=friend_key)
    await agrees(friend, owner_name, account, friend_key, "Compare this code")
    await friend.told("Unless it is stopped", "#status")
    await owner.press("back")
    await owner.told("Jemand verlangt Ihr Konto", '[data-name="takeover"]')
    assert await owner.page.locator(f'[data-name="takeover"] [data-signer="{friend_key}"]').count() == 1
    await owner.inspect("takeover-de")
    await owner.press("stop")
    await owner.told("Angehalten. Ihre Schlüssel bleiben, wie sie sind.", "#status")
    assert int.from_bytes(chain.call(account, "pendingRecovery()")[:32]) == 0
    assert owner.complaints == friend.complaints == []
