"""The recovery drill on the vault page tests each way to recover the vault by opening a copy of it."""

import re

import pytest
from tests.support.page_visits import Visit, new_name, safe, saves_a_backup, tried

PASSWORD = "correct horse battery"
DATABASES = "indexedDB.databases().then((all) => all.map((it) => it.name))"


@pytest.mark.soak  # two more ways of the screen that the other tests try
async def test_the_file_and_the_other_device_are_tried(browser, shared, tmp_path):
    visit, name = await Visit.of(await browser.new_context(), shared), new_name()
    await visit.register(name)
    assert not await safe(visit, "passkey") and not await safe(visit, "browser")
    drill = await visit.text('[data-card="drill"]')
    assert "If you lose this passkey: no other way has been tried." in drill and "Try a device that has it" in drill
    file = tmp_path / "backup.mtrv"
    await saves_a_backup(visit, file, PASSWORD)
    assert not await tried(visit, "file"), "a saved file is not a tried one"
    await visit.press("try-file", then="drill-file")
    await visit.inspect("drill-file")
    await visit.page.set_input_files('[name="file"]', file)
    await visit.submit(password="wrong horse battery", alert="The password is wrong, or the file is damaged.")
    await visit.submit(password=PASSWORD, status="The file and its password open your vault.")
    assert await tried(visit, "file") and await safe(visit, "browser")
    assert "holdfast-trial" not in await visit.page.evaluate(DATABASES)
    other = await Visit.of(await browser.new_context(), shared, "/vault")
    await opens_the_backup(other, file)
    assert await other.text('[data-name="did"]') == await visit.text('[data-name="did"]')
    await tries_the_other_device(visit, other)
    assert visit.complaints == [] and other.complaints == []


async def opens_the_backup(other, file):
    """Bring the vault into another browser and add a passkey there, which opens it from then on."""
    await other.screen("none")
    await other.press("import")
    await other.page.set_input_files('[name="file"]', file)
    await other.submit(password="wrong horse battery", alert="The password is wrong, or the file is damaged.")
    await other.inspect("import-refused")
    await other.submit(password=PASSWORD, then="home")
    await other.press("add", status="The passkey is ready.")
    await other.open("/vault", then="home")


async def tries_the_other_device(visit, other):
    """Show a number here, enter it there, and enter the digits that the other device shows."""
    await visit.page.bring_to_front()
    await visit.press("try-device", then="drill-device")
    number = await visit.text('[data-name="number"]')
    await other.press("try-device")
    await other.press("answer-device")
    await other.inspect("drill-answer")
    await other.submit(number=number)
    digits = await other.page.locator('[data-name="answer"]:not(:empty)').text_content() or ""
    assert re.fullmatch(r"\d{6}", digits)
    await visit.submit(answer=f"{(int(digits) + 1) % 1_000_000:06d}", alert="The digits are not right.")
    await visit.inspect("drill-device")
    await visit.submit(answer=f"{digits[:3]} {digits[3:]}", status="The other device has this vault.")
    assert await tried(visit, "device")
