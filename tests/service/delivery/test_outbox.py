"""The development outbox writes files that only the owner can read, and SMS codes are valid in all processes."""

import asyncio
import logging
import os
import re
import stat
from email import message_from_bytes, policy

import pytest
from tests.support.api import Clock

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.choice import mailer_of
from holdfast.service.sms.choice import sms_verifier_of

ALICE, PHONE, CODE = "alice@example.com", "+12125550123", "271828"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "deep" / "outbox"


@pytest.fixture
def mailer(folder):
    return mailer_of("outbox:", "Holdfast <no-reply@vault.example>", lambda: None, folder, "vault.example")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def verifier(folder, clock):
    return sms_verifier_of("outbox:", lambda: None, folder, clock, os.urandom)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def latest_code(folder):
    newest = max(folder.glob("*.txt"))
    return re.search(r"\b[0-9]{6}\b", newest.read_text().partition("\n")[2])[0]


async def test_mail_becomes_a_private_file(mailer, folder, caplog):
    caplog.set_level(logging.DEBUG)
    folder.mkdir(mode=0o755, parents=True)
    assert "nothing is delivered" in await mailer.check()
    assert mode(folder) == 0o700, "an open folder is closed"
    old_mask = os.umask(0)
    try:
        await mailer.send_code(ALICE, CODE, 90)
    finally:
        os.umask(old_mask)
    with pytest.raises(DeliveryError):
        await mailer.send_code("alice@example.com\r\nBcc: eve@example.com", CODE, 90)
    [file] = folder.iterdir()
    assert (mode(folder), mode(file), file.suffix) == (0o700, 0o600, ".eml")
    mail = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert mail["To"] == ALICE
    assert CODE in mail.get_body(("plain",)).get_content()
    shown = [record for record in caplog.records if CODE in record.getMessage()]
    assert [record.name for record in shown] == ["holdfast.outbox"]
    assert ALICE not in caplog.text


async def test_unwritable_outbox_is_a_delivery_error(mailer, verifier, folder):
    folder.parent.mkdir()
    folder.write_text("a file where the folder belongs")
    for doing in (
        mailer.send_code(ALICE, CODE, 90), mailer.check(), verifier.start(PHONE), verifier.check_code(PHONE, CODE),
        verifier.check(),
    ):  # fmt: skip
        with pytest.raises(DeliveryError) as caught:
            await doing
        assert caught.value.kind == "unreachable"


async def test_sms_code_is_right_once_and_kept_hashed(verifier, folder, clock):
    await verifier.start(PHONE)
    code = latest_code(folder)
    stored = b"".join(file.read_bytes() for file in folder.glob("sms-codes.db*"))
    assert code.encode() not in stored and PHONE.encode() not in stored
    assert not await verifier.check_code("+12125550199", code)
    others = [sms_verifier_of("outbox:", lambda: None, folder, clock, os.urandom) for _ in range(5)]
    assert sum(await asyncio.gather(*(other.check_code(PHONE, code) for other in others))) == 1
    assert {mode(file) for file in folder.iterdir()} == {0o600}
    await verifier.start(PHONE)
    code = latest_code(folder)
    for _ in range(5):
        assert not await verifier.check_code(PHONE, f"{(int(code) + 1) % 10**6:06}")
    assert not await verifier.check_code(PHONE, code), "the sixth attempt"
