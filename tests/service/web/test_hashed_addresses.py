"""No client address is stored: keyed hashes count, as long as their key is the first one."""

import pytest
from tests.support.api import KEY, MAIL

from holdfast.service.settings.secrets import Secrets

NEW = b"another signing key of 32 bytes or more"


@pytest.mark.parametrize(("ip", "traces"), [("203.0.113.7", ["203.0.113"]), ("2001:db8:1:2::9", ["2001:db8", "db8:1"])])
async def test_no_row_contains_the_address(api, ip, traces):
    await api.session(ip=ip)
    await api.post("/api/verify/send", identifier=MAIL, channel="email", ip=ip)
    await api.post("/api/verify/check", identifier=MAIL, channel="email", code="000000", ip=ip)
    await api.register(identifier="ann", ip=ip)
    rows = [str(row) for row in api.rows()]
    assert any("ip_counters" in row for row in rows) and any("charges" in row for row in rows)
    assert not [row for row in rows for trace in traces if trace in row]


async def counted(api):
    return (await api.get("/api/sessions/status", ip="203.0.113.7")).json()["ip_registrations"]


async def test_the_count_of_an_address_lasts_as_long_as_the_first_key(make_api):
    api = make_api()
    await api.session(ip="203.0.113.7")
    assert await counted(api) == 1
    assert await counted(make_api(secrets=Secrets((KEY, NEW), generated=False))) == 1
    assert await counted(make_api(secrets=Secrets((NEW, KEY), generated=False))) == 0
