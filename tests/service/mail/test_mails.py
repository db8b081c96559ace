"""The mails with codes and about recoveries: their texts, their headers, and the addresses that they may have."""

from email import message_from_bytes, policy
from email.headerregistry import Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.service.delivery.mail_addresses import recipient_address
from holdfast.service.mail.code_mail import compose, is_international, mail_identity, render, spoken
from holdfast.service.mail.notice_mail import render_notice
from holdfast.service.mail.port import Notice

HEAD = mail_identity("Holdfast <no-reply@vault.example>", "vault.example", "https://vault.example")
HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]


def written(identity, to, code="271828", lifetime_s=90):
    message = compose(identity, recipient_address(to), render(identity, code, lifetime_s))
    return message.as_bytes()


def test_a_lifetime_is_said_in_words_and_only_codes_are_written():
    spans = {60: "60 seconds", 90: "90 seconds", 120: "2 minutes", 121: "121 seconds", 600: "10 minutes"}
    assert {seconds: spoken(seconds) for seconds in spans} == spans
    for code in ("", "12", "12345\n", "12 345", "<b>1234", "1" * 13, "١٢٣٤٥٦"):
        with pytest.raises(ValueError, match="not a one-time code"):
            render(HEAD, code, 90)


def test_subject_ends_with_the_code_and_lines_are_short():
    raw = written(HEAD, "alice@example.com")
    mail = message_from_bytes(raw, policy=policy.default)
    assert mail["Subject"] == "Your code for vault.example: 271828" and mail.keys() == HEADERS
    assert raw.isascii() and b"\n" not in raw.replace(b"\r\n", b"")
    assert max(map(len, raw.split(b"\r\n"))) < 998
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


@pytest.mark.parametrize(("text", "spec"), [
    ("alice+tag@example.com", "alice+tag@example.com"),
    ("o'neil!#$%&*/=?^_`{|}~-@sub-domain.example.com", "o'neil!#$%&*/=?^_`{|}~-@sub-domain.example.com"),
    ("anna@BÜCHER.example", "anna@xn--bcher-kva.example"),
    ("anna@faß.example", "anna@xn--fa-hia.example"),
    ("用户@例え.テスト", "用户@xn--r8jz45g.xn--zckzah"),
    ("x@[192.0.2.1]", "x@[192.0.2.1]"),
])  # fmt: skip
def test_addresses(text, spec):
    address = recipient_address(text)
    assert address.addr_spec == spec
    assert is_international(address) is not spec.isascii()


@pytest.mark.parametrize("text", [
    "two..dots@example.com", ".start@example.com", "end.@example.com", '"quoted"@example.com',
    "=?utf-8?q?eve=40example.com?=@example.com", "a@example..com", "a@example.com.", "a@-example.com",
    "a@exa mple.com", "a@" + "b" * 64 + ".example", "a" * 320 + "@example.com", "a\ud800@example.com",
    "a@exam\ud800ple.com", "a@example.com\r\nBcc: eve@example.com", "a\n@example.com", "a@example.com, eve@example.com",
    "a@example.com>\r\nRCPT TO:<eve@example.com", "<a@example.com>", "a@example.com NOTIFY=NEVER", "a", "@example.com", "a@",
    "a@exam\u2028ple.com", "",
])  # fmt: skip
def test_refused_addresses(text):
    with pytest.raises(ValueError, match="not one mail address"):
        recipient_address(text)


@given(st.text(max_size=60) | st.from_regex(r"[^@]{0,12}@[^@]{0,12}", fullmatch=True))
def test_any_recipient_is_refused_or_alone_in_its_header(text):
    try:
        address = recipient_address(text)
    except ValueError:
        return
    raw = compose(HEAD, address, render(HEAD, "271828", 90)).as_bytes()
    mail = message_from_bytes(raw, policy=policy.SMTPUTF8)
    [to] = mail["To"].addresses
    assert mail.keys() == HEADERS and to.domain == address.domain
    assert (f"\r\nTo: {address.addr_spec}\r\n").encode() in raw


@given(name=st.text(max_size=40), host=st.text(max_size=40))
def test_any_sender_name_and_host_are_refused_or_harmless(name, host):
    text = (
        str(Address(name, "no-reply", "vault.example")) if "\r" not in name and "\n" not in name else f"{name} <a@b.c>"
    )
    try:
        identity = mail_identity(text, host)
    except ValueError:
        return
    mail = message_from_bytes(written(identity, "alice@example.com"), policy=policy.default)
    assert mail.keys() == HEADERS and len(mail["From"].addresses) == 1


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


def test_mails_about_the_same_are_the_same_mail_and_no_text_is_markup():
    ids = {
        str(compose(HEAD, recipient_address("ann@example.com"), render_notice(HEAD, notice))["Message-ID"])
        for notice in (ASKED, ASKED, STARTED, STARTED._replace(name="84532:0x5290:4"))
    }
    assert len(ids) == 3
    assert "<b>" not in render_notice(HEAD, ASKED._replace(account="<b>")).html
    html = render(mail_identity("a@b.example", '<img src="x">&'), "271828", 90).html
    assert "<img" not in html and "&lt;img src=&quot;x&quot;&gt;&amp;" in html
