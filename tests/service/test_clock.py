"""If the clock is set back or forward, no limit is lifted, nothing can be used twice, and any lockout is short."""

import pytest
from tests.support.api import MAIL, error_of

HOUR_S, DAY_S = 3600, 86400
SEND = "/api/verify/send"


async def send(api, number=0):
    answer = await api.post(SEND, ip="192.0.2.1", identifier=f"a{number}@example.com", channel="email")
    return answer.status_code, int(answer.headers.get("retry-after", 0))


@pytest.mark.parametrize("jump_s", [-1, -HOUR_S, -30 * DAY_S])
async def test_a_clock_set_back_opens_no_window(api, jump_s):
    for number in range(3):
        assert (await send(api, number))[0] == 200
    api.clock.now += jump_s
    status, wait_s = await send(api)
    assert status == 429 and 0 < wait_s <= DAY_S


async def test_a_clock_that_ran_ahead_and_was_set_right_counts_every_send_and_registration(api):
    async def opened(number):
        return (await api.session(f"ann{number}", ip="192.0.2.9")).status_code

    api.clock.now += 365 * DAY_S
    assert ((await send(api, 1))[0], await opened(0)) == (200, 200)
    api.clock.now -= 365 * DAY_S
    assert [(await send(api, number))[0] for number in range(2, 5)] == [200, 200, 429]
    api.clock.now += DAY_S
    assert [(await send(api, number))[0] for number in range(5, 8)] == [200, 200, 429]
    assert [await opened(number) for number in range(1, 4)] == [200, 200, 429], "for life"
    await api.service.maintenance.expire()
    api.clock.now -= 20 * 365 * DAY_S
    assert await opened(4) == 429


@pytest.mark.parametrize(("jump_s", "used_before"), [
    *[(jump_s, False) for jump_s in (-HOUR_S, -1, 1, 299)], (DAY_S, True), (-DAY_S, True),
])  # fmt: skip
async def test_an_attestation_is_used_once_whatever_the_clock_does(api, jump_s, used_before):
    attestation = await api.attested()
    body = {"identifier": MAIL, "channel": "email", "attestation": attestation}
    api.clock.now += 0 if used_before else jump_s
    assert (await api.register(**body)).status_code == 200
    api.clock.now += jump_s if used_before else 0
    await api.service.maintenance.expire()
    api.clock.now -= jump_s
    assert error_of(await api.register(credentialId="another", **body)) == (403, "attestation_used")


async def test_a_code_that_was_sent_while_the_clock_ran_ahead_does_not_live_longer(api):
    """It would live for as long as the clock was ahead. A new one takes its place at once."""
    api.clock.now += HOUR_S
    assert (await send(api))[0] == 200
    late = api.mailer.sent[-1][1]
    api.clock.now -= HOUR_S

    async def judged(code):
        return (await api.post("/api/verify/check", identifier="a0@example.com", channel="email", code=code)).json()

    assert (await judged(late))["message"] == "The code has expired. Request a new one."
    assert (await send(api))[0] == 200
    assert (await judged(api.mailer.sent[-1][1]))["verified"] is True


@pytest.mark.parametrize("behind_s", [0, 60, 119])
async def test_a_node_that_is_behind_accepts_what_another_has_sent(api, behind_s):
    assert (await send(api))[0] == 200
    api.clock.now -= behind_s
    body = {"identifier": "a0@example.com", "channel": "email", "code": api.mailer.sent[-1][1]}
    assert (await api.post("/api/verify/check", **body)).json()["verified"] is True
