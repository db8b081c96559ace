"""Pairing on the vault page: in both directions with a program on the same computer, and between two browsers."""

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import asynccontextmanager

import pytest
from tests.support.page_visits import GERMAN, Visit, new_name

PATIENCE_S = 60
SLOW_S = 20  # libp2p would end a connection to a peer that is silent so long
PASSWORD = "correct horse battery staple"


@asynccontextmanager
async def holdfast(folder, *words):
    """Run the `holdfast` command in a process, with a separate vault folder."""
    environment = {**os.environ, "HOLDFAST_VAULT_DIR": str(folder), "HOLDFAST_VAULT_PASSWORD": PASSWORD}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from holdfast.cli import main; main()",
        *words,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def found(stream, pattern):
    """Return the first match in the lines of a stream; the last line may be a prompt without a line break."""
    assert stream
    read = ""
    async with asyncio.timeout(PATIENCE_S):
        while not (match := re.search(pattern, read)):
            chunk = await stream.read(4096)
            assert chunk, read
            read += chunk.decode()
    return match[1]


def say(process, line):
    assert process.stdin
    process.stdin.write(f"{line}\n".encode())


async def ended(process):
    async with asyncio.timeout(PATIENCE_S):
        out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return dict(json.loads(out))


async def digits(visit):
    return await visit.page.locator('[data-name="digits"]').text_content() or ""


async def test_a_browser_gives_its_vault_to_the_program(browser, shared, tmp_path):
    visit = await Visit.of(browser, shared)
    asked = []
    visit.page.on("request", lambda it: asked.append(f"{it.method} {it.url}"))
    await visit.register(new_name())
    loaded = [one for one in asked if "libp2p" in one and not one.startswith("HEAD ")]
    assert loaded == [], "it is loaded only when a pairing begins"
    async with holdfast(tmp_path, "vault", "receive", "--json") as program:
        address = await found(program.stderr, r"(/ip4/\S+#\S+)")
        await visit.press("pair", then="pair")
        await visit.told("Use a backup file for another browser.")
        await visit.inspect("pair")
        await visit.submit(address=address, then="pair-digits")
        shown = await found(program.stderr, r"this device shows +(\d{6})")
        assert shown not in await visit.page.locator("main").inner_text(), "the person has to look at the other device"
        await visit.submit(other_digits=shown)
        say(program, "y")
        received = await ended(program)
        await visit.told("The other device has your vault now.", "#status")
    assert received == {"did": await visit.text('[data-name="did"]'), "received": True}
    assert visit.complaints == []


@pytest.mark.soak  # the gate pairs with the program, and test_page_vault.py walks in German by the keyboard
async def test_two_browsers_pair_at_a_host_in_german_by_the_keyboard_alone(browser, serve, tmp_path):
    words = ("vault", "meet", "--listen", "/ip4/127.0.0.1/tcp/0/ws", "--identity", str(tmp_path / "host.key"), "--json")
    async with holdfast(tmp_path, *words) as host:
        server = serve(pairing_host=await found(host.stdout, r'"address": ?"([^"]+)"'))
        old = await Visit.of(await browser.new_context(**GERMAN), server)
        await old.register("alice")
        await old.key("pair")
        link = await old.text('[data-name="link"]')
        await old.inspect("pair-waiting-de")
        new = await Visit.of(await browser.new_context(**GERMAN), server, "/vault#" + link.partition("#")[2])
        await new.screen("take")
        assert "#" not in new.page.url, "the name of the meeting does not stay in the address"
        await new.told("bekämen Sie einen Tresor, dessen Schlüssel diese Person behält.")
        await ends_because_the_digits_differ(old, new, host)
        await meets_again(old, new)
        await new.screen("take-key")
        await old.told("hat jetzt Ihren Tresor", "#status")
        await new.page.reload()  # before a key was chosen, so only the other browser's keys open the vault
        await new.screen("unlock")
        await new.key("stuck")
        await meets_again(old, new, inspecting=True)
        await locks_it_with_a_password(new)
        await old.told("hat jetzt Ihren Tresor", "#status")
        assert await new.text('[data-name="did"]') == await old.text('[data-name="did"]')
    assert old.complaints == [] and new.complaints == []


async def ends_because_the_digits_differ(old, new, host):
    """Say on the old device that the digits differ, so that the vault is not transferred; the host hangs meanwhile."""
    await new.page.bring_to_front()
    await new.key("submit")
    await new.screen("take-digits")
    await old.screen("pair-digits")
    host.send_signal(signal.SIGSTOP)
    await asyncio.sleep(SLOW_S)
    host.send_signal(signal.SIGCONT)
    await old.page.bring_to_front()
    await old.key("differ")
    await new.page.bring_to_front()
    await new.key("same")
    await new.alerted("Die Kopplung ist zu Ende, und kein Tresor wurde übergeben.")
    await old.screen("home")


async def meets_again(old, new, *, inspecting=False):
    """Pair with a new link and the right digits."""
    await old.page.bring_to_front()
    await old.key("pair")
    link = await old.text('[data-name="link"]')
    await new.page.bring_to_front()
    if inspecting:
        await new.key("take")
    await new.type("address", link)
    if inspecting:
        await new.inspect("take-de")
    await new.page.keyboard.press("Enter")
    await old.screen("pair-digits")
    await new.screen("take-digits")
    if inspecting:
        await new.inspect("take-digits-de")
    await old.page.bring_to_front()
    if inspecting:
        await old.inspect("pair-digits-de")
    await old.type("other-digits", await digits(new))
    await old.page.keyboard.press("Enter")
    await new.page.bring_to_front()
    await new.key("same")


async def locks_it_with_a_password(visit):
    await visit.screen("take-key")
    await visit.inspect("take-key-de")
    await visit.key("use-password")
    await visit.screen("take-password")
    await visit.inspect("take-password-de")
    await visit.type("new-password", PASSWORD)
    await visit.type("new-password-again", PASSWORD)
    await visit.page.keyboard.press("Enter")
    await visit.screen("home")
    await visit.told("Ihr Tresor ist jetzt auf diesem Gerät.", "#status")
