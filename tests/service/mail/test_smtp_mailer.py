"""Sending mail over SMTP to real servers: aiosmtpd with TLS, STARTTLS and AUTH, and servers that misbehave."""

import asyncio
import logging
import random
import re
import ssl
from collections import Counter
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
import trustme
from aiosmtpd.smtp import AuthResult
from tests.support.receivers import receiving
from tests.support.serving import PATIENCE_S
from tests.support.upstreams import scripted

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.choice import mailer_of
from holdfast.service.mail.code_mail import mail_identity
from holdfast.service.mail.port import Notice
from holdfast.service.mail.smtp_mailer import SmtpMailer, SmtpServer

# aiosmtpd does not recognise implicit TLS, and warns as if the socket were not encrypted.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")

USER, PASSWORD = "post@example.org", "p@ss:/?#ü"
CREDENTIALS = f"{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@"
ALICE, CODE = "alice@example.com", "271828"
SENDER = "Holdfast <no-reply@vault.example>"


@asynccontextmanager
async def mailing(url):
    def no_http():
        raise AssertionError("SMTP needs no HTTP session")

    mailer = mailer_of(url, SENDER, no_http, None, "vault.example")
    try:
        yield mailer
    finally:
        await mailer.close()


def signs_in(server, session, envelope, mechanism, data):
    good = data.login == USER.encode() and data.password == PASSWORD.encode()
    return AuthResult(success=good, handled=False)


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def server_tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(scope="module")
def ca_file(authority, tmp_path_factory):
    file = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(file)
    return file


@pytest.fixture(autouse=True)
def nothing_leaks(caplog):
    """No library writes the recipient, the code or the password to the log."""
    caplog.set_level(logging.DEBUG)
    logging.getLogger("mail.log").setLevel(logging.WARNING)  # the test receiver's own log
    yield
    ours = "\n".join(r.getMessage() + str(r.exc_text) for r in caplog.records if not r.name.startswith("mail."))
    assert not [word for word in (ALICE, "alice", CODE, PASSWORD, quote(PASSWORD, safe="")) if word in ours]


def says_yes(respond, offered=b"250 OK\r\n", greeting=b"220 receiver.test\r\n"):
    """Return a server's dialogue: `respond(line, number)` gives the lines to say, HANG_UP, or None for a yes.

    After DATA was accepted, `respond` gets the mail as the next line. Connections are numbered from 1.
    """

    async def talk(reader, writer, number):
        writer.write(greeting)
        while line := await reader.readline():
            said = respond(line, number)
            if said is None and line.upper().startswith(b"DATA"):
                writer.write(b"354 go on\r\n")
                said = respond(await reader.readuntil(b"\r\n.\r\n"), number)
            if said is not None and said.startswith(HANG_UP):
                writer.write(said.removeprefix(HANG_UP))
                return
            writer.write(offered if said is None else said)

    return talk


HANG_UP = b"<hang up after this>"


async def refused(mailer, recipient=ALICE):
    with pytest.raises(DeliveryError) as caught:
        await mailer.send_code(recipient, CODE, 90)
    told = f"{caught.value} {caught.value.__cause__}"
    assert not [word for word in (recipient, CODE, PASSWORD) if word in told]
    return caught.value


async def test_plain_delivery_carries_the_whole_message_and_a_check_names_the_sender_and_sends_nothing():
    async with receiving() as receiver, mailing(f"smtp://127.0.0.1:{receiver.port}") as mailer:
        await mailer.send_code(ALICE, CODE, 90)
        assert await mailer.check() == f"SMTP server 127.0.0.1:{receiver.port}, not encrypted, no sign-in"
        await mailer.send_notice(ALICE, Notice("a1", "started", "0xaa", 1_800_000_000.0, ""))
        assert b"0xaa" in receiver.mails.pop()[0].original_content
        receiver.refuse = {"no-reply@vault.example": "553 not yours"}
        with pytest.raises(DeliveryError, match="the sender was answered 553"):
            await mailer.check()
    assert receiver.senders == ["no-reply@vault.example"] * 4
    [(envelope, _)] = receiver.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("no-reply@vault.example", [ALICE])
    mail = receiver.message()
    assert (mail["From"], mail["To"]) == (SENDER, ALICE)
    assert mail["Auto-Submitted"] == "auto-generated" and mail["Message-ID"].endswith("@vault.example>")
    for kind in ("plain", "html"):
        body = mail.get_body((kind,)).get_content()
        assert CODE in body and "90 seconds" in body and "http" not in body, "no links, no tracking"


@pytest.mark.parametrize("only", ["LOGIN", "PLAIN"])
@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
async def test_tls_with_each_sign_in_mechanism(scheme, only, server_tls, ca_file):
    tls = {"ssl_context": server_tls} if scheme == "smtps" else {"tls_context": server_tls, "require_starttls": True}
    used = []

    def remembers(server, session, envelope, mechanism, data):
        used.append(mechanism)
        return signs_in(server, session, envelope, mechanism, data)

    required = {"authenticator": remembers, "auth_required": True, "auth_require_tls": scheme != "smtps"}
    other = {"LOGIN": "PLAIN", "PLAIN": "LOGIN"}[only]
    async with receiving(**tls, **required, auth_exclude_mechanism=[other]) as receiver:
        url = f"{scheme}://{CREDENTIALS}127.0.0.1:{receiver.port}?ca_file={ca_file}"
        async with mailing(url) as mailer:
            await mailer.send_code(ALICE, CODE, 90)
            assert await mailer.check() == f"SMTP server 127.0.0.1:{receiver.port}, TLSv1.3, signed in"
    assert len(receiver.mails) == 1 and receiver.mails[0][1].authenticated and set(used) == {only}


async def test_wrong_password_or_no_sign_in_is_refused(server_tls, ca_file):
    options = {"authenticator": signs_in, "auth_require_tls": False, "auth_required": True}
    for scheme, login, offered in (
        ("smtps", "post:wrong@", {"ssl_context": server_tls, **options}),
        ("smtp", CREDENTIALS, {}),
    ):
        query = f"?ca_file={ca_file}" if scheme == "smtps" else ""
        async with (
            receiving(**offered) as receiver,
            mailing(f"{scheme}://{login}127.0.0.1:{receiver.port}{query}") as mailer,
        ):
            error = await refused(mailer)
            assert error.kind == "refused" and (not offered or str(error) == "refused: sign-in was answered 535")
        assert not receiver.mails


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
async def test_a_certificate_that_is_untrusted_or_of_another_name_is_refused(scheme, authority, ca_file, server_tls):
    elsewhere = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("elsewhere.example").configure_cert(elsewhere)
    for context, trusted in ((server_tls, ""), (elsewhere, f"?ca_file={ca_file}")):
        tls = {"ssl_context": context} if scheme == "smtps" else {"tls_context": context}
        async with receiving(**tls) as receiver, mailing(f"{scheme}://127.0.0.1:{receiver.port}{trusted}") as mailer:
            error = await refused(mailer)
            assert error.kind == "unreachable" and "certificate not trusted" in str(error)
        assert not receiver.mails


@pytest.mark.parametrize(("offered", "heard"), [
    (b"250-receiver.test\r\n250 AUTH PLAIN LOGIN\r\n", [b"EHLO"]),
    (b"250-receiver.test\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n", [b"EHLO", b"STARTTLS"]),
], ids=["not offered", "refused"])  # fmt: skip
async def test_starttls_is_never_given_up(ca_file, offered, heard):
    verbs = []

    def not_now(line, _):
        verbs.append(line.split()[0])
        return b"454 4.7.0 not now\r\n" if line.startswith(b"STARTTLS") else None

    async with (
        scripted(says_yes(not_now, offered)) as (port, _),
        mailing(f"smtp+starttls://{CREDENTIALS}127.0.0.1:{port}?ca_file={ca_file}") as mailer,
    ):
        assert (await refused(mailer)).kind == "refused"
    assert verbs == heard


async def test_words_before_the_handshake_do_not_count_after_it(server_tls, ca_file):
    """Data that a third party injects after the response to STARTTLS is discarded (RFC 3207, section 4.2)."""
    heard = []

    async def slips_in(reader, writer, _):
        writer.write(b"220 receiver.test\r\n")
        await reader.readline()
        writer.write(b"250-receiver.test\r\n250 STARTTLS\r\n")
        await reader.readline()
        writer.write(b"220 go on\r\n250-forged\r\n250 AUTH PLAIN\r\n")
        await writer.start_tls(server_tls)
        while line := await reader.readline():
            heard.append(line.split()[0])
            writer.write(b"250 receiver.test\r\n")

    async with (
        scripted(slips_in) as (port, _),
        mailing(f"smtp+starttls://{CREDENTIALS}127.0.0.1:{port}?ca_file={ca_file}") as mailer,
    ):
        assert (await refused(mailer)).kind == "refused"  # the server itself offers no authentication
    assert heard == [b"EHLO"]


def code_in(message):
    return re.search(rb"([0-9]{6})\r\n", message)[1].decode()


@pytest.mark.parametrize("seed", range(4))
async def test_under_chaos_nothing_is_lost_that_was_promised_and_nothing_comes_twice(seed):
    """While many mails are being sent at once, the server may disconnect or return 421 or 451 at any point."""
    dice, received = random.Random(seed), Counter()

    def moody(line, _):
        if line.endswith(b"\r\n.\r\n"):
            received[code_in(line)] += 1
            return HANG_UP if dice.random() < 0.1 else None
        mood = dice.random()
        if mood < 0.08:
            return HANG_UP + (b"" if mood < 0.04 else b"421 closing\r\n")
        return b"451 later\r\n" if mood < 0.12 and not line.startswith((b"EHLO", b"QUIT", b"RSET")) else None

    async with scripted(says_yes(moody)) as (port, _), mailing(f"smtp://127.0.0.1:{port}?connections=4") as mailer:
        codes = [f"{n:06}" for n in range(60)]
        sends = [mailer.send_code(ALICE, code, 90) for code in codes]
        outcomes = await asyncio.gather(*sends, return_exceptions=True)
    promised = [code for code, outcome in zip(codes, outcomes, strict=True) if outcome is None]
    assert {type(outcome) for outcome in outcomes} <= {type(None), DeliveryError}
    assert len(promised) > 20
    assert set(promised) <= received.keys()
    assert max(received.values()) == 1


async def test_a_connection_is_reused_also_after_a_refused_recipient_and_replaced_when_the_server_restarts():
    async with receiving() as receiver, mailing(f"smtp://127.0.0.1:{receiver.port}") as mailer:
        receiver.refuse["nobody@example.com"] = "550 5.1.1 <nobody@example.com>: no such user"
        for _ in range(2):
            error = await refused(mailer, "nobody@example.com")
            assert (error.of_recipient, str(error)) == (True, "refused: the recipient was answered 550")
            await mailer.send_code(ALICE, CODE, 90)
        assert receiver.connections == 1
        await receiver.stop()
        await receiver.start()
        await mailer.send_code(ALICE, CODE, 90)
        assert receiver.connections == 2, "after a restart of the server"
    assert [envelope.rcpt_tos for envelope, _ in receiver.mails] == [[ALICE]] * 3


@pytest.mark.parametrize("farewell", [b"", b"421 4.4.2 idle too long\r\n"])
async def test_kept_connection_that_dies_at_the_envelope_is_replaced_once(farewell):
    accepted, begun = [], []

    def dies_on_the_second_mail(line, number):
        if line.endswith(b"\r\n.\r\n"):
            accepted.append(number)
        if line.startswith(b"MAIL"):
            begun.append(number)
        return HANG_UP + farewell if line.startswith(b"MAIL") and begun == [1, 1] else None

    async with scripted(says_yes(dies_on_the_second_mail)) as (port, _), mailing(f"smtp://127.0.0.1:{port}") as mailer:
        await mailer.send_code(ALICE, CODE, 90)
        await mailer.send_code(ALICE, CODE, 90)
    assert accepted == [1, 2]


@pytest.mark.parametrize("said", [b"421 4.3.2 closing\r\n", b"what?\r\n"], ids=["421", "not SMTP"])
@pytest.mark.parametrize("stage", [b"MAIL", b"RCPT", b"DATA", b"."])
async def test_a_connection_on_which_the_server_gives_up_is_not_used_again(stage, said):
    """The server does not hang up, and would say yes to RSET and to the next mail."""
    heard = []

    def gives_up(line, number):
        verb = b"." if line.endswith(b"\r\n.\r\n") else line.split()[0]
        heard.append((number, verb))
        return said if (number, verb) == (1, stage) else None

    async with scripted(says_yes(gives_up)) as (port, _), mailing(f"smtp://127.0.0.1:{port}") as mailer:
        assert (await refused(mailer)).kind == ("refused" if said.startswith(b"421") else "nonsense")
        await mailer.send_code(ALICE, CODE, 90)
    first = [verb for number, verb in heard if number == 1]
    assert first[-1] == stage and (2, b".") in heard


@pytest.mark.parametrize(("greeting", "kind"), [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "nonsense"), (b"\x16\x03\x01\x02\x00\x01\x00\r\n", "nonsense"),
    (b"554 5.7.1 no service for alice@example.com\r\n", "refused"), (b"421 busy\r\n", "refused"), (b"", "unreachable"),
])  # fmt: skip
async def test_odd_greetings(greeting, kind):
    async def greets(reader, writer, _):
        writer.write(greeting)
        await writer.drain()

    async with scripted(greets) as (port, _), mailing(f"smtp://127.0.0.1:{port}") as mailer:
        assert (await refused(mailer)).kind == kind
    async with mailing(f"smtp://127.0.0.1:{port}") as mailer:
        assert (await refused(mailer)).kind == "unreachable", "nobody listens"
        with pytest.raises(DeliveryError):
            await mailer.check()


@pytest.mark.parametrize("stage", [b"EHLO", b"MAIL", b"RCPT", b"DATA"])
async def test_hanging_up_anywhere_is_unreachable_and_not_repeated(stage):
    hangs_up = says_yes(lambda line, _: HANG_UP if line.startswith(stage) else None)
    async with scripted(hangs_up) as (port, connections), mailing(f"smtp://127.0.0.1:{port}") as mailer:
        error = await refused(mailer)
        assert (error.kind, error.perhaps_sent) == ("unreachable", stage == b"DATA")
        assert len(connections) == 1


def limited(port, **limits):
    server = SmtpServer("127.0.0.1", port, "none", "", "", None, 1, **limits)
    return SmtpMailer(server, mail_identity(SENDER, "vault.example"))


@pytest.mark.parametrize("limit", ["command_s", "total_s"])
@pytest.mark.parametrize("stage", [b"", b"EHLO", b"RCPT", b"DATA"])
async def test_silence_anywhere_is_a_timeout(stage, limit):
    """The other limit is an hour, so that it is this one that ends the wait."""
    greeting = b"220 receiver.test\r\n" if stage else b""
    silent = says_yes(lambda line, _: b"" if line.startswith(stage) else None, greeting=greeting)
    async with scripted(silent) as (port, _), asyncio.timeout(PATIENCE_S):
        mailer = limited(port, **{"command_s": 3600, "total_s": 3600, limit: 0.2})
        assert (await refused(mailer)).kind == "timeout"
        await mailer.close()


async def test_a_connection_on_which_a_refusal_is_followed_by_silence_is_closed():
    lines, ended = [], asyncio.Event()
    talk = says_yes(lambda line, _: lines.append(line) or {b"RCPT": b"550 no\r\n", b"RSET": b""}.get(line.split()[0]))

    async def talks(*connection):
        await talk(*connection)
        ended.set()

    async with scripted(talks) as (port, _), asyncio.timeout(PATIENCE_S):
        mailer = limited(port, command_s=3600, total_s=0.2)
        assert (await refused(mailer)).kind == "timeout" and lines[-1].startswith(b"RSET")
        await ended.wait()
        await mailer.close()


async def one_is_closed(receiver):
    async with asyncio.timeout(PATIENCE_S):
        while all(it.transport is not None and not it.transport.is_closing() for it in receiver.protocols):
            await asyncio.sleep(0.02)


async def test_many_at_once_share_few_connections_and_a_cancelled_one_does_not_spoil_the_next():
    async with receiving() as receiver, mailing(f"smtp://127.0.0.1:{receiver.port}?connections=4") as mailer:
        receiver.at_once = 4
        people = [f"person{n}@example.com" for n in range(50)]
        await asyncio.gather(*(mailer.send_code(person, f"{n:06}", 90) for n, person in enumerate(people)))
        assert receiver.connections == receiver.most_open == 4
        letters = {(envelope.rcpt_tos[0], code_in(envelope.original_content)) for envelope, _ in receiver.mails}
        assert letters == {(person, f"{n:06}") for n, person in enumerate(people)}
        receiver.busy.clear()
        receiver.delay_s = 3600
        task = asyncio.create_task(mailer.send_code(ALICE, CODE, 90))
        async with asyncio.timeout(PATIENCE_S):
            await receiver.busy.wait()
        task.cancel()
        await asyncio.wait([task])
        await one_is_closed(receiver)
        receiver.delay_s = 0
        await asyncio.gather(*(mailer.send_code(ALICE, CODE, 90) for _ in range(4)))
        assert receiver.connections > 4


async def test_idle_connection_is_closed_politely():
    async with receiving() as receiver:
        mailer = limited(receiver.port, idle_s=0.05)
        await mailer.send_code(ALICE, CODE, 90)
        await one_is_closed(receiver)
        await mailer.send_code(ALICE, CODE, 90)
        assert receiver.connections == 2
        await mailer.close()


@pytest.mark.parametrize("takes", [True, False])
async def test_an_international_address_needs_a_server_that_takes_it(takes):
    async with receiving(enable_SMTPUTF8=takes) as receiver, mailing(f"smtp://127.0.0.1:{receiver.port}") as mailer:
        if not takes:
            error = await refused(mailer, "jürgen@example.com")
            assert (error.kind, "SMTPUTF8" in str(error)) == ("refused", True)
        for recipient in ("alice@example.com>\r\nRCPT TO:<eve@example.com", "alice@example.com NOTIFY=NEVER"):
            assert (await refused(mailer, recipient)).kind == "refused", "no address breaks out of the dialogue"
        to = "jürgen" if takes else "anna"  # if only the domain is international, ASCII suffices
        await mailer.send_code(f"{to}@bücher.example", CODE, 90)
    envelope, _ = receiver.mails[0]
    assert envelope.rcpt_tos == [f"{to}@xn--bcher-kva.example"] and bool(envelope.smtp_utf8) is takes
    assert f"{to}@xn--bcher-kva.example".encode() in envelope.original_content
