"""What the requests that a service answers most cost its event loop, in calls: no machine's speed changes the number."""

import json

import pytest
from tests.support.api import DID
from tests.support.heavy_requests import Heavy, RsgiMeter

HOST = {"host": "holdfast.test"}
SESSION = json.dumps({"identifier": "bob", "channel": "handle", "did": DID}).encode()


# An eighth more than today. Who adds to these paths measures (`make bench ARGS=service`), and raises the number.
@pytest.mark.parametrize(
    ("request_", "most"),
    [
        (Heavy("contracts", "GET", "/api/contracts", HOST), 40),
        (Heavy("check", "GET", "/api/sessions/check?identifier=bob&channel=handle", HOST), 86),
        (Heavy("look-up", "GET", "/api/dids/lookup?credentialId=cred-1", HOST), 74),
        (Heavy("session", "POST", "/api/sessions", HOST, SESSION), 266),
    ],
    ids=lambda value: value.name if isinstance(value, Heavy) else "",
)
async def test_a_usual_request_costs_no_more_than_before(api, request_, most):
    await api.register()
    meter = RsgiMeter(api.application)
    cost = await meter.cost(request_, tries=2)
    assert cost.status == (409 if request_.body else 200)
    assert cost.calls <= most
