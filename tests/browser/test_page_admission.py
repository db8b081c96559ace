"""What the pages offer if the operator takes people by invitation or not at all, or leaves out a channel."""

import pytest
from tests.support.operator import Operator
from tests.support.page_visits import GENEROUS, GERMAN, Visit, new_name
from tests.support.serving import running_server


async def test_a_person_registers_with_an_invitation(browser, tmp_path):
    offered = {"registration": "invitation", "channels": "handle,sms"}
    with running_server(tmp_path / "data", tmp_path / "log", **GENEROUS, **offered) as server:
        invite = Operator(server.data)
        code = invite("invitation", "new", "--json", public_url=f"http://localhost:{server.port}").value["code"]
        visit = await Visit.of(browser, server, f"/?invitation={code}")
        await visit.press("register")
        assert await visit.page.input_value('[name="invitation"]') == code
        assert await visit.page.locator('[data-name="use-email"]').count() == 0
        assert await visit.page.locator('[data-name="use-sms"]').count() == 1
        await visit.inspect("choose-invitation")
        await visit.submit(handle=new_name(), then="passkey")
        await visit.press("create", then="safety")


@pytest.mark.soak  # tests/service refuses registrations in the gate
async def test_a_closed_service_offers_no_registration(browser, tmp_path):
    with running_server(tmp_path / "data", tmp_path / "log", registration="closed") as server:
        visit = await Visit.of(await browser.new_context(**GERMAN), server)
        await visit.told("keine neuen Registrierungen")
        assert await visit.page.locator('[data-name="register"]').count() == 0
        await visit.inspect("start-closed")
