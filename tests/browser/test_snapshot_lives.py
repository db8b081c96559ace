"""Killed pages and workers in a real Chromium: what the service acknowledged comes back, whenever they end.

tests/client/snapshots loses requests and answers in random sequences, and vectors/flows hold both clients to the same.
HOLDFAST_TEST_LIVES sets the number of parts, and HOLDFAST_TEST_SEED sets the random seed.
"""

import contextlib
import os
import random

import pytest
from playwright.async_api import Error as PageError
from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome

PARTS = int(os.environ.get("HOLDFAST_TEST_LIVES", "10"))
SEED = int(os.environ.get("HOLDFAST_TEST_SEED", "11"))
BY_HAND = {"snapshots": {"automatic": False}}
KEY = "{kind: 'secret', id: 'device', secret: new Uint8Array(32).fill(7)}"
OPEN = f"const opened = await client.vault.unlock({KEY}); if (!opened.success) throw new Error(opened.error)"
SAVE = "return client.vault.exec('resource:services action:create', {id: 'ROW', type: 'note', endpoint: 'https://x.example'})"
ROWS = "(await client.vault.exec('resource:services action:list')).result.map(({id}) => id)"
PUBLISH = "return (await client.snapshots()).publish()"
RECOVER = f"await client.recover({{key: {KEY}, name: 'NAME'}}); return {ROWS}"
WORKER_ENDS = (
    "const going = client.snapshots().then((it) => it.publish()).catch(() => {}); client.vault.close(); await going"
)


class Life:
    """A browser with a vault, the rows written there, and how many of them the service has acknowledged."""

    def __init__(self, context, server, chosen):
        self.context, self.server, self.random = context, server, chosen
        self.written, self.acknowledged = [], 0

    async def begin(self):
        await self.open()
        await Authenticator.of(self.page)
        await self.page.evaluate(MAKE, {"name": "ada", "options": {}})
        await self.page.evaluate(f"client.vault.addKey({KEY})")
        await self.page.evaluate("client.register({handle: 'ada'})")
        self.name = await self.page.evaluate("client.vault.publishingKey().then(({name}) => name)")
        await self.page.evaluate("client.close()")
        await self.killed()
        await self.publish()

    async def open(self):
        self.page = await new_page(self.context, self.server)
        await self.page.evaluate(CLIENT, BY_HAND)

    async def edit(self):
        name = f"row {len(self.written)}"
        done = await outcome(self.page, SAVE.replace("ROW", name))
        assert done["value"]["success"], done
        self.written.append(name)

    async def publish(self):
        told = await outcome(self.page, PUBLISH)
        assert told.get("value", {}).get("status") == "pinned", told
        self.acknowledged = len(self.written)

    async def killed(self):
        """Close the page at any time, and open another page, which finds what the browser stored."""
        await self.page.close()
        await self.open()
        opened = await outcome(self.page, OPEN)
        assert "message" not in opened, opened

    async def worker_killed(self):
        """Terminate the vault's worker in the middle of an upload."""
        await outcome(self.page, WORKER_ENDS)
        await self.killed()

    async def killed_while_publishing(self):
        with contextlib.suppress(PageError):
            await self.page.evaluate("client.snapshots().then((it) => void it.publish().catch(() => {}))")
        await self.page.wait_for_timeout(self.random.randrange(300))
        await self.killed()

    async def recovered(self, browser):
        """Return the rows that are recovered from the name and the key in an empty profile."""
        page = await new_page(await browser.new_context(), self.server)
        await page.evaluate(CLIENT, BY_HAND)
        found = await outcome(page, RECOVER.replace("NAME", self.name))
        await page.context.close()
        assert "value" in found, found
        return found["value"]


# Each part of a sequence contains all of these steps, in a random order.
KINDS = ("edit", "edit", "edit", "publish", "killed", "worker_killed", "killed_while_publishing")


@pytest.mark.soak
async def test_what_was_acknowledged_comes_back(browser, serve):
    chosen = random.Random(SEED)
    life = Life(await browser.new_context(), serve(), chosen)
    await life.begin()
    for part in range(PARTS):
        steps = chosen.sample(KINDS, len(KINDS))
        for step in steps:
            await getattr(life, step)()
        rows = await life.recovered(browser)
        assert rows == life.written[: len(rows)] and len(rows) >= life.acknowledged, (SEED, part, steps)
        await life.publish()
        assert await life.recovered(browser) == life.written, (SEED, part, steps)
