"""Each call to a provider is counted with its outcome."""

import asyncio

import pytest

from holdfast.chain.errors import TransportError
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.telemetry import metrics
from holdfast.service.telemetry.calls import OUTCOMES, calling
from holdfast.service.upstreams.proxy import UpstreamError


@pytest.fixture(autouse=True)
def numbers():
    metrics.reset()
    yield
    metrics.reset()


@pytest.mark.parametrize(("error", "outcome"), [
    (DeliveryError("refused", "HTTP 422"), "refused"),
    (DeliveryError("nonsense"), "nonsense"),
    (UpstreamError("ClientConnectorError", "unreachable"), "unreachable"),
    (UpstreamError("TimeoutError", "timeout"), "timeout"),
    (TransportError("no answer"), "unreachable"),
    (TransportError("HTTP status 500", 500), "refused"),
    (TimeoutError(), "timeout"),
    (RuntimeError("a bug"), "error"),
    (DeliveryError("ann@example.com"), "error"),
    (asyncio.CancelledError(), "cancelled"),
])  # fmt: skip
def test_an_exception_names_the_outcome(error, outcome):
    with pytest.raises(type(error)), calling("mail"):
        raise error
    assert metrics.PROVIDER_CALLS.cells == {("mail", outcome): 1} and outcome in OUTCOMES
    assert list(metrics.PROVIDER_SECONDS.cells) == [("mail",)]


def test_a_call_that_succeeds_is_ok_and_its_time_is_counted():
    with calling("sms"):
        pass
    assert metrics.PROVIDER_CALLS.cells == {("sms", "ok"): 1}
    assert metrics.PROVIDER_SECONDS.cells["sms",][0] == 1


def test_a_cancelled_call_to_a_chain_is_one_that_took_too_long():
    with pytest.raises(asyncio.CancelledError), calling("chain", cancelled="timeout"):
        raise asyncio.CancelledError
    assert metrics.PROVIDER_CALLS.cells == {("chain", "timeout"): 1}


def test_a_provider_that_the_table_lacks_is_an_error():
    with pytest.raises(AssertionError), calling("elsewhere"):
        pass
