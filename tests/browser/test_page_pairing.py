"""Pairing on the vault page: in both directions with a program on the same computer, and between two browsers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.support.page_visits import GERMAN, Visit
from tests.support.vaults import PASSKEY

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from playwright.async_api import Browser, Route
    from tests.support.serving import Server

PATIENCE_S = 60
PASSWORD = "correct horse battery staple"


@asynccontextmanager
async def holdfast(folder: Path, *words: str) -> AsyncIterator[Process]:
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


async def found(stream: asyncio.StreamReader | None, pattern: str) -> str:
    """Return the first match in the lines of a stream; the last line may be a prompt without a line break."""
    assert stream
    read = ""
    async with asyncio.timeout(PATIENCE_S):
        while not (match := re.search(pattern, read)):
            chunk = await stream.read(4096)
            assert chunk, read
            read += chunk.decode()
    return match[1]


def say(process: Process, line: str) -> None:
    assert process.stdin
    process.stdin.write(f"{line}\n".encode())


async def ended(process: Process) -> dict[str, object]:
    async with asyncio.timeout(PATIENCE_S):
        out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return dict(json.loads(out))


async def digits(visit: Visit) -> str:
    return await visit.page.locator('[data-name="digits"]').text_content() or ""


async def test_the_program_gives_its_vault_to_a_browser(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve()
    credential = tmp_path / "credential"
    credential.write_text(PASSKEY.credential)
    async with holdfast(tmp_path, "vault", "create", "--credential", str(credential), "--json") as made:
        await ended(made)
    async with holdfast(tmp_path, "vault", "pair", "--libp2p", "--host", "127.0.0.1", "--json") as program:
        address = await found(program.stderr, r"holdfast vault pair (/\S+)")
        visit = await Visit.of(browser, server, "/vault")
        await visit.press("take")
        await visit.fill("address", "not an address")
        await visit.press("submit")
        await visit.told("This is not a link or address of another device.")
        await visit.inspect("take")
        await visit.fill("address", address)
        await visit.press("submit")
        await visit.screen("take-digits")
        await visit.inspect("take-digits")
        say(program, await digits(visit))
        assert await found(program.stderr, r"this device shows +(\d{6})") == await digits(visit)
        await visit.press("same")
        given = await ended(program)
        await visit.screen("take-key")
        await visit.inspect("take-key")
        await visit.press("create")
        await visit.screen("home")
    assert await visit.text('[data-name="did"]') == given["did"] and given["given"] is True
    await visit.press("lock")
    await visit.press("passkey")  # the only key now, because the one used for pairing was removed
    await visit.screen("home")
    assert await visit.page.locator("[data-credential]").count() >= 1
    assert visit.complaints == []


async def test_a_browser_gives_its_vault_to_the_program(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    visit = await Visit.of(browser, serve())
    await visit.register("alice")
    async with holdfast(tmp_path, "vault", "receive", "--json") as program:
        address = await found(program.stderr, r"(/ip4/\S+#\S+)")
        await visit.press("pair")
        await visit.screen("pair")
        await visit.told("Use a backup file for another browser.")
        await visit.inspect("pair")
        await visit.fill("address", address)
        await visit.press("submit")
        await visit.screen("pair-digits")
        await visit.inspect("pair-digits")
        shown = await found(program.stderr, r"this device shows +(\d{6})")
        assert shown not in await visit.page.locator("main").inner_text(), "the person has to look at the other device"
        await visit.fill("other-digits", shown)
        await visit.press("submit")
        say(program, "y")
        received = await ended(program)
        await visit.told("The other device has your vault now.", "#status")
    assert received == {"did": await visit.text('[data-name="did"]'), "received": True}
    assert visit.complaints == []


async def test_two_browsers_pair_at_a_host(browser: Browser, serve: Callable[..., Server], tmp_path: Path) -> None:
    words = ("vault", "meet", "--listen", "/ip4/127.0.0.1/tcp/0/ws", "--identity", str(tmp_path / "host.key"), "--json")
    async with holdfast(tmp_path, *words) as host:
        address = await found(host.stdout, r'"address": ?"([^"]+)"')
        server = serve(pairing_host=address)
        old = await Visit.of(await browser.new_context(), server)
        await old.register("alice")
        await old.press("pair")
        link = await old.text('[data-name="link"]')
        await old.inspect("pair-waiting")
        new = await Visit.of(await browser.new_context(), server, "/vault#" + link.partition("#")[2])
        await new.screen("take")
        assert "#" not in new.page.url, "the name of the meeting does not stay in the address"
        await new.told("link you would get a vault whose keys that person keeps.")
        await new.press("submit")
        await new.screen("take-digits")
        await old.screen("pair-digits")
        # The person says on the old device that the digits differ, so the vault is not transferred.
        await old.press("differ")
        await new.press("same")
        await new.alerted("The pairing ended, and no vault was passed on.")
        await old.screen("home")
        await old.press("pair")
        await new.fill("address", await old.text('[data-name="link"]'))
        await new.press("submit")
        await old.screen("pair-digits")
        await new.screen("take-digits")
        await old.fill("other-digits", await digits(new))
        await old.press("submit")
        await new.press("same")
        await new.screen("take-key")
        await old.told("The other device has your vault now.", "#status")
        await new.page.reload()  # before a key was chosen, so the vault is not stored
        await new.screen("none")
    assert old.complaints == [] and new.complaints == []


async def test_pairing_in_german_by_the_keyboard_alone(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    words = ("vault", "meet", "--listen", "/ip4/127.0.0.1/tcp/0/ws", "--identity", str(tmp_path / "host.key"), "--json")
    async with holdfast(tmp_path, *words) as host:
        server = serve(pairing_host=await found(host.stdout, r'"address": ?"([^"]+)"'))
        old = await Visit.of(await browser.new_context(**GERMAN), server)
        await old.register("alice")
        await old.key("pair")
        link = await old.text('[data-name="link"]')
        await old.inspect("pair-waiting-de")
        new = await Visit.of(await browser.new_context(**GERMAN), server, "/vault")
        await new.screen("none")
        await new.key("take")
        await new.type("address", link)
        await new.inspect("take-de")
        await new.page.keyboard.press("Enter")
        await old.screen("pair-digits")
        await new.screen("take-digits")
        await new.inspect("take-digits-de")
        await old.page.bring_to_front()
        await old.inspect("pair-digits-de")
        await old.type("other-digits", await digits(new))
        await old.page.keyboard.press("Enter")
        await new.page.bring_to_front()
        await new.key("same")
        await new.screen("take-key")
        await new.inspect("take-key-de")
        await new.key("use-password")
        await new.screen("take-password")
        await new.inspect("take-password-de")
        await new.type("new-password", PASSWORD)
        await new.type("new-password-again", PASSWORD)
        await new.page.keyboard.press("Enter")
        await new.screen("home")
        await new.told("Ihr Tresor ist jetzt auf diesem Gerät.", "#status")
        await old.told("hat jetzt Ihren Tresor", "#status")
        assert await new.text('[data-name="did"]') == await old.text('[data-name="did"]')
    assert old.complaints == [] and new.complaints == []


async def test_a_vault_works_where_libp2p_cannot_be_loaded(browser: Browser, serve: Callable[..., Server]) -> None:
    visit = await Visit.of(browser, serve())

    async def missing(route: Route) -> None:
        await route.fulfill(status=404)

    asked: list[str] = []
    visit.page.on("request", lambda it: asked.append(f"{it.method} {it.url}"))
    await visit.register("alice")
    loaded = [one for one in asked if "libp2p" in one and not one.startswith("HEAD ")]
    assert loaded == [], "it is loaded only when a pairing begins"
    await visit.page.route("**/client/pairing/libp2p.js", missing)
    await visit.press("pair")
    await visit.fill(
        "address", "/ip4/127.0.0.1/tcp/9/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA#abcdefghijklmnop"
    )
    await visit.press("submit")
    await visit.alerted("The part that pairs devices could not be loaded.")
    await visit.inspect("pair-not-loaded")
    await visit.press("back")
    await visit.press("lock")
    await visit.press("passkey")
    await visit.screen("home")
