"""HOLDFAST_CHANNELS: what is switched off gets the documented 400, and the pages know what people may register."""

import pytest
from tests.support.api import DID, MAIL, PHONE, error_of

VERIFY = (400, 'Invalid channel. Must be "sms" or "email"')
REGISTER = (400, 'Invalid channel. Must be "handle", "email" or "sms"')
NAMES = {"handle": "ann", "email": MAIL, "sms": PHONE}


@pytest.mark.parametrize("off", ["handle", "email", "sms"])
async def test_what_is_switched_off_is_an_unknown_channel(make_api, off):
    api = make_api(channels=",".join(set(NAMES) - {off}))
    given = {"identifier": NAMES[off], "channel": off}
    assert error_of(await api.post("/api/sessions", did=DID, **given)) == REGISTER
    assert error_of(await api.get("/api/sessions/check", **given)) == REGISTER
    assert error_of(await api.register(**given)) == REGISTER
    assert error_of(await api.post("/api/verify/send", **given)) == VERIFY
    assert error_of(await api.post("/api/verify/check", code="1", **given)) == VERIFY
    assert error_of(await api.get("/api/verify/status", **given)) == VERIFY
    assert not api.mailer.sent and not api.sms.sent


async def test_what_is_left_works_and_the_page_names_it(make_api):
    api = make_api(channels="sms, handle")
    assert (await api.session("ann")).status_code == 200
    assert (await api.post("/api/verify/send", identifier=PHONE, channel="sms")).status_code == 200
    page = await api.http.get("/")
    assert '<meta name="holdfast-channels" content="handle sms">' in page.text
