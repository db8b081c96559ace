"""Signatures of webhooks, compared with Standard Webhooks' own library."""

import base64
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from holdfast.rules.webhooks import parse_secrets, signature
from holdfast.service.settings.secrets import new_webhook_secret


@given(st.binary(min_size=24, max_size=64), st.text(max_size=60))
def test_the_foreign_library_signs_the_same(key, text):
    now, secret = int(time.time()), "whsec_" + base64.b64encode(key).decode()
    ours = signature(parse_secrets(secret), "msg_1", now, text.encode())
    assert ours == Webhook(secret).sign("msg_1", datetime.fromtimestamp(now, UTC), text)


def test_each_secret_signs_so_that_it_can_be_rotated():
    old, new, other = new_webhook_secret(), new_webhook_secret(), new_webhook_secret()
    now, body = int(time.time()), b'{"type":"check"}'
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(now),
        "webhook-signature": signature(parse_secrets(f"{old} {new}"), "msg_1", now, body),
    }
    assert Webhook(old).verify(body.decode(), headers) == Webhook(new).verify(body.decode(), headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(other).verify(body.decode(), headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(body.decode() + " ", headers)


@pytest.mark.parametrize(
    "text", ["", "hunter2", "whsec_hunter2", "whsec_" + "A" * 28, "whsec_" + "A" * 88, "A" * 32, "whsec_" + "-" * 32]
)
def test_what_is_no_secret_is_refused_without_repeating_it(text):
    with pytest.raises(ValueError, match="secret") as caught:
        parse_secrets(text)
    assert "hunter2" not in str(caught.value)
