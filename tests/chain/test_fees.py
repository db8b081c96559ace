"""Fees are computed from an endpoint's base fee and tip, or from its gas price (vectors/service/fees.json)."""

import pytest
from tests.support.fake_transports import FakeTransport
from tests.support.vector_files import vectors

from holdfast.chain.errors import RpcError
from holdfast.chain.fees import Fees, fees_of_chain
from holdfast.chain.rpc import RpcClient

FILE = vectors("service/fees")


def answered(case):
    def handler(method, _params):
        answer = (FILE["answers"] | case["answers"])[method]
        return ValueError(*answer["error"]) if isinstance(answer, dict) and "error" in answer else answer

    return fees_of_chain(RpcClient("http://chain.invalid", FakeTransport(handler)), FILE["chainId"])


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
async def test_fees(case):
    if "fees" in case:
        assert await answered(case) == Fees(*case["fees"])
        return
    with pytest.raises(RpcError):
        await answered(case)
