"""What a pinning service answers (vectors/service/pins.json)."""

import json

import httpx2
import pytest
from tests.support.vector_files import vectors

from holdfast.client.http.calls import Retries
from holdfast.client.storage.pinning import AsyncPinning
from holdfast.wire.client_errors import NetworkError

FILE = vectors("service/pins")


def pinning(answer):
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json=answer))
    return AsyncPinning("https://pins.example", "token", transport=transport, retries=Retries(attempts=1))


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
async def test_a_pin(case):
    answer = FILE["pin"] | case["more"]
    if not case["pin"]:
        with pytest.raises(NetworkError):
            await pinning(answer).get("7")
        return
    assert (await pinning(answer).get("7")).status == answer["status"]
    assert len(await pinning({"count": 1, "results": [answer]}).list()) == 1


@pytest.mark.parametrize("answer", FILE["no_pins"], ids=json.dumps)
async def test_no_list_of_pins(answer):
    for asked in (pinning(answer).list(), pinning(answer).get("7")):
        with pytest.raises(NetworkError):
            await asked
