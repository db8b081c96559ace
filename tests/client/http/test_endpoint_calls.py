"""HTTP calls built from endpoint declarations, the endpoint that a service may name for its chain, and services' DIDs."""

import pytest
from tests.support.vector_files import vectors

from holdfast.client.http.endpoint_calls import as_json, call_of
from holdfast.client.http.named_endpoint import endpoint_named
from holdfast.client.snapshots.tokens import did_of_service
from holdfast.wire.endpoints import Endpoint
from holdfast.wire.requests import Input

MIDDLE = Endpoint[Input](name="history", method="GET", path="/a/{first}/b/{second}/c", summary="")
BELOW = Endpoint[Input](name="below", method="GET", path="/a/{path}", summary="")


@pytest.mark.parametrize(
    ("endpoint", "path", "called"),
    [
        (MIDDLE, {"first": "x", "second": "y"}, "/a/x/b/y/c"),
        (MIDDLE, {"first": "a/b", "second": "y"}, "/a/a%2Fb/b/y/c"),
        (MIDDLE, {"first": "ä?#", "second": "y"}, "/a/%C3%A4%3F%23/b/y/c"),
        (MIDDLE, {"first": "{second}", "second": "y"}, "/a/%7Bsecond%7D/b/y/c"),
        (MIDDLE, {"first": "%2e", "second": "y"}, "/a/%252e/b/y/c"),
        (BELOW, {"path": "b/c d"}, "/a/b/c%20d"),
    ],
)
def test_a_value_stays_one_segment_unless_it_stands_for_everything_below(endpoint, path, called):
    assert call_of(endpoint, as_json, path=path).path == called


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_value_that_leads_to_another_path_is_refused(value):
    with pytest.raises(ValueError, match="first is empty"):
        call_of(MIDDLE, as_json, path={"first": value, "second": "y"})
    with pytest.raises(ValueError, match="path is empty"):
        call_of(BELOW, as_json, path={"path": f"b/{value}"})


NAMED = vectors("service/named_endpoints")


@pytest.mark.parametrize("is_used", [True, False])
def test_a_named_endpoint_in_the_persons_own_network_is_not_used(is_used):
    for case in NAMED["used" if is_used else "refused"]:
        assert endpoint_named(**case) == (case["named"] if is_used else None), case
    assert endpoint_named(None, "https://vault.example") is None


DIDS = vectors("service/did_web")["cases"]


@pytest.mark.parametrize(("address", "did"), DIDS)
def test_a_service_has_one_did(address, did):
    assert did_of_service(address) == did
