"""An app's server accepts only signatures that were made for it."""

from datetime import UTC, datetime

import pytest
from tests.support.vector_files import vectors

from holdfast import AppSignatureRefused, verify_app_signature

VECTORS = vectors("connect/signatures")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_as_the_vectors_say(case):
    asked = {name: VECTORS["facts"][name] for name in ("origin", "challenge", "text")}
    asked["returns"] = VECTORS["returns"]
    now = datetime.fromtimestamp(VECTORS["now"], UTC)
    if "did" in case:
        assert verify_app_signature(case["answer"], now=now, **asked) == case["did"]
        return
    with pytest.raises(AppSignatureRefused) as refused:
        verify_app_signature(case["answer"], now=now, **asked)
    assert refused.value.code == case["error"]


def test_without_addresses_only_an_answer_to_a_window_is_taken():
    asked = {name: VECTORS["facts"][name] for name in ("origin", "challenge", "text")}
    now = datetime.fromtimestamp(VECTORS["now"], UTC)
    window, returned = (case for case in VECTORS["cases"] if "did" in case)
    assert verify_app_signature(window["answer"], now=now, **asked) == window["did"]
    with pytest.raises(AppSignatureRefused, match="return"):
        verify_app_signature(returned["answer"], now=now, **asked)
