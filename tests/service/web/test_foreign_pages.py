"""HOLDFAST_OWN_PAGES_ONLY: whether pages of other origins may use up what a visitor's address may do."""

import pytest
from tests.support.api import MAIL

ADDRESS = {"public_url": "http://localhost:8787", "related_origins": "https://app.example"}
PAGE = {"Origin": "https://page.example"}
FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", **PAGE},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:9999"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    PAGE,
    {"Origin": "null"},
]
OWN = [
    {},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8787"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example"},
    {"Origin": "http://localhost:8787"},
]
VISITOR = "192.0.2.9"


@pytest.mark.parametrize("headers", FOREIGN)
async def test_foreign_pages_use_up_nothing_if_they_are_refused(make_api, headers):
    api = make_api(own_pages_only="on", **ADDRESS)
    for number in range(5):
        refused = await api.session(f"name{number}", ip=VISITOR, headers={**headers, "Content-Type": "text/plain"})
        assert (refused.status_code, refused.json()) == (403, {"error": "foreign_page"})
    mail = await api.post("/api/verify/send", identifier=MAIL, channel="email", ip=VISITOR, headers=headers)
    upload = await api.http.put("/routing/v1/ipns/k51", content=b"x", headers=headers)
    assert mail.status_code == upload.status_code == 403 and not api.mailer.sent
    assert (await api.get("/api/sessions/check", handle="ann", headers=headers)).status_code == 200, "they may read"
    assert (await api.session("ann", ip=VISITOR)).status_code == 200, "the visitor may still register"


@pytest.mark.parametrize("headers", OWN)
async def test_own_pages_and_programs_are_served(make_api, headers):
    api = make_api(own_pages_only="on", **ADDRESS)
    assert (await api.session("ann", headers=headers)).status_code == 200


@pytest.mark.parametrize("headers", [*FOREIGN, *OWN])
async def test_unless_set_every_page_is_served(make_api, headers):
    assert (await make_api(**ADDRESS).session("ann", headers=headers)).status_code == 200
