"""What the pages offer if the operator takes people by invitation or not at all, or leaves out a channel."""

import pytest
from tests.support.operator import Operator
from tests.support.page_visits import GENEROUS, GERMAN, Visit, new_name
from tests.support.serving import running_server


def settings(server_port):
    return {"public_url": f"http://localhost:{server_port}"}


async def test_a_person_registers_with_an_invitation(browser, tmp_path):
    offered = {"registration": "invitation", "channels": "handle,sms"}
    with running_server(tmp_path / "data", tmp_path / "log", **GENEROUS, **offered) as server:
        invite = Operator(server.data)
        code = invite("invitation", "new", "--json", **settings(server.port)).value["code"]
        visit = await Visit.of(browser, server, f"/?invitation={code}")
        await visit.press("register")
        assert await visit.page.input_value('[name="invitation"]') == code
        assert await visit.page.locator('[data-name="use-email"]').count() == 0
        assert await visit.page.locator('[data-name="use-sms"]').count() == 1
        await visit.inspect("choose-invitation")
        await visit.submit(handle=new_name(), then="passkey")
        await visit.press("create", then="safety")


@pytest.mark.soak  # tests/service refuses invitations in the gate
async def test_an_invitation_that_is_used_up(browser, tmp_path):
    with running_server(tmp_path / "data", tmp_path / "log", **GENEROUS, registration="invitation") as server:
        made = Operator(server.data)("invitation", "new", "--json", **settings(server.port))
        code = made.value["code"]
        first = await Visit.of(browser, server, f"/?invitation={code}")
        await first.register(new_name())
        late = await Visit.of(await browser.new_context(), server)
        await late.choose("handle", new_name())
        await late.told("Fill in this field.")
        await late.submit(invitation=code, then="passkey")
        await late.press("create")
        await late.told("used up", "body")
        await late.page.context.close()


@pytest.mark.soak  # tests/service refuses registrations in the gate
async def test_a_closed_service_offers_no_registration(browser, tmp_path):
    with running_server(tmp_path / "data", tmp_path / "log", registration="closed") as server:
        for language, words in (
            ({}, "This service takes no new registrations."),
            (GERMAN, "keine neuen Registrierungen"),
        ):
            visit = await Visit.of(await browser.new_context(**language), server)
            await visit.told(words)
            assert await visit.page.locator('[data-name="register"]').count() == 0
            await visit.inspect(f"start-closed-{len(language)}")
            await visit.page.context.close()
