"""The provider URLs in the settings: what each form means, and error messages that never contain a secret."""

import time

import pytest

from holdfast.service.delivery.provider_url import parse_base_url, parse_provider_url
from holdfast.service.mail.choice import mailer_of
from holdfast.service.mail.outbox_mailer import OutboxMailer
from holdfast.service.mail.resend_mailer import ResendMailer
from holdfast.service.sms.choice import sms_verifier_of
from holdfast.service.sms.outbox_verifier import OutboxSmsVerifier

SECRET = "hunter2"
SENDER = "Holdfast <no-reply@vault.example>"


WEBHOOKS = (
    "webhook+http://sender.example/mail", f"webhook+https://u:{SECRET}@sender.example",
    f"webhook+https://sender.example/#{SECRET}", "webhook+https://", "webhook+https://sender.example:x",
    "webhook+https://sender.example/\n", "webhook+https://sender.example:0/",
)  # fmt: skip


def mailer(url, sender=SENDER, folder=None, keys=()):
    return mailer_of(url, sender, lambda: None, folder, "vault.example", keys)


def verifier(url, keys=()):
    return sms_verifier_of(url, lambda: None, None, time.time, bytes, "", keys)


@pytest.mark.parametrize(("url", "expected"), [
    ("smtp://mail.example", ("mail.example", 25, "none", "", "")),
    ("smtps://u:p%40ss%3A%2F@mail.example", ("mail.example", 465, "tls", "u", "p@ss:/")),
    ("smtp+starttls://u%40d:p@mail.example:2525", ("mail.example", 2525, "starttls", "u@d", "p")),
    ("SMTPS://u:p@[::1]:1465/", ("::1", 1465, "tls", "u", "p")),
    ("smtps://u:a:b@mail.example", ("mail.example", 465, "tls", "u", "a:b")),
])  # fmt: skip
def test_smtp_forms(url, expected):
    server = mailer(url).server
    assert (server.host, server.port, server.encryption, server.user, server.password) == expected


def test_other_forms(tmp_path):
    made = (mailer("resend://re_123@"), mailer("outbox:", folder=tmp_path), verifier("outbox:"))
    assert [type(each) for each in made] == [ResendMailer, OutboxMailer, OutboxSmsVerifier]
    service = verifier("twilio://ACaB:tok%2Fen@VAcDeF").service_url
    assert service == "https://verify.twilio.com/v2/Services/VAcDeF", "a SID is case-sensitive"
    for url in ("http://localhost:1", "http://127.0.0.1:1/", "http://[::1]:1", "https://api.example/v1/"):
        assert parse_base_url("X", url) == url.rstrip("/"), "to which a secret may travel"


@pytest.mark.parametrize("url", [
    "", SECRET, f"http://{SECRET}@mail.example", f"smtp://u:{SECRET}@", f"smtp://u:{SECRET}@mail.example:99999",
    f"smtp://u:{SECRET}@mail.example:0", f"smtp://u:x#{SECRET}@mail.example", f"smtp://u:x/{SECRET}@mail.example",
    f"smtp://u:x?{SECRET}@mail.example", f"smtp://u:x?{SECRET}=1@mail.example",
    f"smtp://u:{SECRET}%0d%0a@mail.example", f"smtp://u:{SECRET}%ff@mail.example",
    f"smtp://u:{SECRET}\n@mail.example", f"smtp://[{SECRET}]:25", f"smtp://{SECRET}@mail.example",
    f"smtp://:{SECRET}@mail.example", f"smtps://u:{SECRET}@mail.example?ca_file=/nowhere/{SECRET}.pem",
    f"smtp://u:{SECRET}@127.0.0.1?ca_file=/nowhere.pem", f"smtps://u:{SECRET}@mail.example?connections=0",
    f"smtps://u:{SECRET}@mail.example?connections=1000", f"smtps://u:{SECRET}@mail.example?connections=²",
    f"smtps://u:{SECRET}@mail.example?connections=1&connections=2", "resend://", f"resend://{SECRET}",
    f"resend://{SECRET}@api.resend.com", f"resend://u:{SECRET}@", f"resend://{SECRET}%20ü@",
    f"resend://{SECRET}@?base_url=http://mail.example",
    f"resend://{SECRET}@?base_url=https://u:{SECRET}@mail.example",
    f"resend://{SECRET}@?base_url=https://mail.example?x={SECRET}",
    f"resend://{SECRET}@?base_url=ftp://mail.example", f"resend://{SECRET}@?base_url=",
    f"resend://{SECRET}@?{SECRET}=1", f"outbox:{SECRET}", *WEBHOOKS,
])  # fmt: skip
def test_refused_mail_settings_name_the_variable_and_no_value(url):
    with pytest.raises(ValueError, match="HOLDFAST_MAIL_URL: ") as caught:
        mailer(url, keys=(b"k" * 32,))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("url", [
    "", "outbox:x", f"smtp://AC:{SECRET}@VA1", f"twilio://AC1:{SECRET}@", f"twilio://:{SECRET}@VA1",
    "twilio://AC1@VA1", f"twilio://AC1:{SECRET}@VA1:443", f"twilio://AC1:{SECRET}@VA1/x",
    f"twilio://AC1:{SECRET}@VA.1", f"twilio://AC1:{SECRET}ü@VA1",
    f"twilio://AC1:{SECRET}@VA1?base_url=http://sms.example", f"twilio://AC1:{SECRET}@VA1?key={SECRET}", *WEBHOOKS,
])  # fmt: skip
def test_refused_sms_settings_name_the_variable_and_no_value(url):
    with pytest.raises(ValueError, match=r"^HOLDFAST_SMS_URL: ") as caught:
        verifier(url, keys=(b"k" * 32,))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "sender", ["", "a@b, c@d", "Holdfast <a@b>\r\nBcc: c@d.example", "a@", "a b@c", "Group: a@b, c@d;", "a\0@b"]
)
def test_refused_senders(sender):
    with pytest.raises(ValueError, match="ail"):
        mailer("smtp://127.0.0.1", sender)


def test_a_password_is_in_no_repr_and_in_the_clear_is_warned_of(caplog):
    smtp = f"smtps://u:{SECRET}@mail.example"
    others = (mailer(f"resend://{SECRET}@"), verifier(f"twilio://AC1:{SECRET}@VA1"))
    for made in (mailer(smtp), mailer(smtp).server, parse_provider_url("X", smtp, ()), *others):
        assert SECRET not in repr(made)
    mailer(f"smtp://u:{SECRET}@127.0.0.1")
    assert not caplog.records
    mailer(f"smtp://u:{SECRET}@mail.example")
    assert "unencrypted" in caplog.text and SECRET not in caplog.text
