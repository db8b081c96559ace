"""The mails about recoveries: both languages, when, and where to stop it."""

from email import message_from_bytes, policy

import pytest

from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import compose, mail_identity
from holdfast.service.mail.notice_mail import render_notice
from holdfast.service.mail.port import Notice

HEAD = mail_identity("Holdfast <no-reply@vault.example>", "vault.example", "https://vault.example")
ASKED = Notice("a1", "asked", "0x5290", 1_800_000_000.0, "5a" * 16)
STARTED = Notice("84532:0x5290:3", "started", "0x5290", 1_800_000_000.0, "")


@pytest.mark.parametrize(("notice", "stop", "words"), [
    (ASKED, f"https://vault.example/vault#stop-recovery={'5a' * 16}", ("typed a code", "einen Code eingegeben")),
    (STARTED, "https://vault.example/vault", ("\u201cStop it\u201d", "\u201eAnhalten\u201c")),
], ids=["asked", "started"])  # fmt: skip
def test_a_mail_says_what_when_and_where(notice, stop, words):
    mail = render_notice(HEAD, notice)
    raw = compose(HEAD, recipient_address("ann@example.com"), mail).as_bytes()
    assert raw.isascii() and max(map(len, raw.split(b"\r\n"))) < 998
    text, html = (part.get_content() for part in message_from_bytes(raw, policy=policy.default).iter_parts())
    for said in (*words, "0x5290", "2027-01-15 08:00 UTC", stop):
        assert said in text and said in html, said
    assert html.count(f'href="{stop}"') == 2


def test_mails_about_the_same_are_the_same_mail():
    ids = {
        str(compose(HEAD, recipient_address("ann@example.com"), render_notice(HEAD, notice))["Message-ID"])
        for notice in (ASKED, ASKED, STARTED, STARTED._replace(name="84532:0x5290:4"))
    }
    assert len(ids) == 3


def test_no_text_of_a_notice_is_markup():
    assert "<b>" not in render_notice(HEAD, ASKED._replace(account="<b>")).html
