"""Registration on the start page, in a real Chromium with a virtual authenticator, against a running service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.page_visits import Visit

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser
    from tests.support.serving import Server


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def test_a_person_registers_by_handle(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.screen("start")
    await visit.shoot("start")
    await visit.choose("handle", "alice")
    await visit.screen("passkey")
    await visit.shoot("passkey")
    await visit.press("create")
    await visit.screen("safety")
    await visit.shoot("safety")
    await visit.press("later")
    await visit.screen("home")
    await visit.told("alice")
    await visit.shoot("vault")
    with server.client() as client:
        (credential,) = await visit.authenticator.credentials()
        assert credential["isResidentCredential"]
        found = client.get("/api/sessions/check", params={"identifier": "alice"}).json()
    assert found == {"available": False, "reason": "taken"}
    assert visit.complaints == []
