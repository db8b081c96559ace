"""The development outbox writes files that only the owner can read, and SMS codes are valid in all processes."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
import sys
from email import message_from_bytes, policy

import pytest

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.choice import mailer_of
from holdfast.service.sms.choice import sms_verifier_of

ALICE, PHONE, CODE = "alice@example.com", "+12125550123", "271828"


class Clock:
    now = 1_800_000_000.0

    def __call__(self):
        return self.now


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
    old_mask = os.umask(0)
    try:
        await mailer.send_code(ALICE, CODE, 90)
    finally:
        os.umask(old_mask)
    [file] = folder.iterdir()
    assert (mode(folder), mode(file), file.suffix) == (0o700, 0o600, ".eml")
    mail = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert mail["To"] == ALICE
    assert CODE in mail.get_body(("plain",)).get_content()
    shown = [record for record in caplog.records if CODE in record.getMessage()]
    assert [record.name for record in shown] == ["holdfast.outbox"]
    assert ALICE not in caplog.text


async def test_mail_files_sort_by_time_and_tell_nothing(mailer, folder):
    for number in range(20):
        await mailer.send_code(ALICE, f"{number:06}", 90)
    codes = [re.search(rb"Subject: .*([0-9]{6})", file.read_bytes())[1] for file in sorted(folder.iterdir())]
    assert codes == [b"%06d" % number for number in range(20)]
    assert not [file.name for file in folder.iterdir() if "alice" in file.name]


async def test_international_mail_is_written(mailer, folder):
    await mailer.send_code("jürgen@bücher.example", CODE, 90)
    [file] = folder.iterdir()
    assert "To: jürgen@xn--bcher-kva.example".encode() in file.read_bytes()


async def test_open_folder_is_closed(mailer, folder):
    folder.mkdir(mode=0o755, parents=True)
    assert "nothing is delivered" in await mailer.check()
    assert mode(folder) == 0o700


async def test_unwritable_outbox_is_a_delivery_error(mailer, verifier, folder):
    folder.parent.mkdir()
    folder.write_text("a file where the folder belongs")
    for doing in (
        mailer.send_code(ALICE, CODE, 90),
        mailer.check(),
        verifier.start(PHONE),
        verifier.check_code(PHONE, CODE),
        verifier.check(),
    ):
        with pytest.raises(DeliveryError) as caught:
            await doing
        assert caught.value.kind == "unreachable"


async def test_no_line_break_enters_a_header(mailer, folder):
    with pytest.raises(DeliveryError):
        await mailer.send_code("alice@example.com\r\nBcc: eve@example.com", CODE, 90)
    assert not folder.exists()


async def test_sms_code_is_right_once(verifier, folder):
    await verifier.start(PHONE)
    code = latest_code(folder)
    assert not await verifier.check_code("+12125550199", code)
    assert await verifier.check_code(PHONE, code)
    assert not await verifier.check_code(PHONE, code)
    assert {mode(file) for file in folder.iterdir()} == {0o600}


async def test_sms_code_is_kept_hashed(verifier, folder):
    await verifier.start(PHONE)
    stored = b"".join(file.read_bytes() for file in folder.glob("sms-codes.db*"))
    assert latest_code(folder).encode() not in stored
    assert PHONE.encode() not in stored


async def test_sms_code_expires(verifier, folder, clock):
    await verifier.start(PHONE)
    clock.now += 600
    assert not await verifier.check_code(PHONE, latest_code(folder))
    await verifier.start(PHONE)
    clock.now += 599
    assert await verifier.check_code(PHONE, latest_code(folder))


async def test_sixth_attempt_fails_even_with_the_right_code(verifier, folder):
    await verifier.start(PHONE)
    code = latest_code(folder)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    for _ in range(5):
        assert not await verifier.check_code(PHONE, wrong)
    assert not await verifier.check_code(PHONE, code)
    await verifier.start(PHONE)
    assert await verifier.check_code(PHONE, latest_code(folder))


async def test_an_sms_ends_with_the_line_that_binds_its_code_to_the_host(folder, clock):
    """In the format of https://wicg.github.io/sms-one-time-codes, the last line of the message is "@host #code"."""
    await sms_verifier_of("outbox:", lambda: None, folder, clock, os.urandom, "vault.example").start(PHONE)
    [text] = [file.read_text() for file in folder.glob("*.txt")]
    words, empty, bound = text.partition("\n\n")[2].split("\n")
    code = re.fullmatch(r"Your code is ([0-9]{6})", words)[1]
    assert (empty, bound) == ("", f"@vault.example #{code}")


async def test_newer_sms_code_replaces_the_older(verifier, folder):
    await verifier.start(PHONE)
    old = latest_code(folder)
    await verifier.start(PHONE)
    new = latest_code(folder)
    assert await verifier.check_code(PHONE, old) is (old == new)
    assert await verifier.check_code(PHONE, new) is (old != new)


async def test_of_many_right_tries_at_once_one_wins(verifier, folder, clock):
    await verifier.start(PHONE)
    others = [sms_verifier_of("outbox:", lambda: None, folder, clock, os.urandom) for _ in range(5)]
    code = latest_code(folder)
    assert sum(await asyncio.gather(*(other.check_code(PHONE, code) for other in others))) == 1


async def test_attempts_are_shared_between_processes(verifier, folder, clock):
    await verifier.start(PHONE)
    code = latest_code(folder)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    script = (
        "import asyncio, os, pathlib, sys\n"
        "from holdfast.service.sms.choice import sms_verifier_of\n"
        "v = sms_verifier_of('outbox:', None, pathlib.Path(sys.argv[1]), lambda: float(sys.argv[2]), os.urandom)\n"
        "print(asyncio.run(v.check_code(sys.argv[3], sys.argv[4])))\n"
    )
    arguments = [sys.executable, "-c", script, str(folder), str(clock.now), PHONE, wrong]
    children = [await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE) for _ in range(5)]
    answers = await asyncio.wait_for(asyncio.gather(*(child.communicate() for child in children)), 150)
    assert [out.strip() for out, _ in answers] == [b"False"] * 5
    assert not await verifier.check_code(PHONE, code)


async def test_code_with_odd_characters_is_only_wrong(verifier):
    await verifier.start(PHONE)
    for code in ("", "ü", "\x00", "1" * 10_000, "' or 1=1 --", "\ud800"):
        assert not await verifier.check_code(PHONE, code)
