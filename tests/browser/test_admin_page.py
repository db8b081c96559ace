"""An operator enters a key on the admin port's page, finds a name, bans, invites, erases, and sees who did it."""

from pathlib import Path
from types import SimpleNamespace

from tests.support.operator import Operator
from tests.support.page_visits import GENEROUS, GERMAN, Visit
from tests.support.serving import running_server

from holdfast.world.processes import free_port


async def agree(dialog):
    await dialog.accept()


async def test_an_operators_visit(browser, tmp_path):
    port = SimpleNamespace(port=free_port())
    with running_server(tmp_path / "data", tmp_path / "log", admin_port=str(port.port), **GENEROUS) as server:
        command = Operator(server.data)
        key = command("admin-key", "new", "eva", "--scope", "read", "--scope", "write", "--json").value["key"]
        with server.client() as client:
            for n in range(55):
                server.session(client, f"name{n}", f"192.0.2.{n}")
        visit = await Visit.of(browser, port, "/admin")
        visit.page.on("dialog", agree)
        await visit.inspect("admin-key")
        await enter(visit, "holdfast.eva.wrong")
        await visit.alerted("This key is not valid.")
        await enter(visit, key)
        await look_for_a_name(visit)
        await change_it(visit)
        await ban_and_invite(visit)
        await visit.press("counts")
        await visit.told("54 claimed")
        await visit.inspect("admin-counts")
        await visit.press("acts")
        await visit.told("by key:eva")
        named = await visit.page.locator(".rows .strong").all_inner_texts()
        assert {"Ban", "Admin key made"} <= {*named} and not [name for name in named if "_" in name]
        await visit.inspect("admin-acts")
        assert visit.complaints == []
        assert await visit.page.evaluate("JSON.stringify(localStorage)") == "{}", "the key goes with the tab"

        german = await Visit.of(await browser.new_context(**GERMAN), port, "/admin")
        await german.told("Ihr Schlüssel")
        await enter(german, key)
        await german.told("Name beginnt mit")
        await german.inspect("admin-german")
        command("admin-key", "revoke", "eva")
        await visit.press("bans", then="key")


async def enter(visit, key):
    await visit.screen("key")
    await visit.fill("key", key)
    await visit.press("key.open")


async def look_for_a_name(visit):
    await visit.screen("identifiers")
    rows = visit.page.locator(".rows > li")
    assert await rows.count() == 50
    await visit.press("next")
    await visit.page.locator(".rows > li:nth-child(55)").wait_for()
    async with visit.page.expect_download() as saved:
        await visit.press("csv")
    assert len(Path(await (await saved.value).path()).read_text().splitlines()) == 56
    await visit.fill("prefix", "NAME5")
    await visit.press("search")
    await visit.page.locator(".rows > li:nth-child(7)").wait_for(state="detached")
    assert await rows.count() == 6
    await visit.inspect("admin-identifiers")


async def change_it(visit):
    await visit.press("identifier", then="identifier")
    await visit.page.locator("summary").click()
    await visit.inspect("admin-identifier")
    await visit.press("erase", alert="Your key may not do this.")
    await visit.press("ban.name")
    await visit.told("Done: Ban.")
    await visit.page.locator("summary").click()
    await visit.press("release", then="identifiers")


async def ban_and_invite(visit):
    await visit.press("bans", then="bans")
    await visit.told("name handle name5")
    await visit.inspect("admin-bans")
    await visit.press("lift")
    await visit.told("Nothing found.")
    await visit.press("invitations", then="invitations")
    await visit.fill("uses", "3")
    await visit.press("invite")
    first = await visit.text('[data-name="code"]')
    await visit.press("reissue")
    await visit.told("0 of 3 left")
    assert await visit.text('[data-name="code"]') != first
    await visit.inspect("admin-invitations")
