"""Random sequences in a real Chromium: edits, interrupted uploads, lost responses, and killed pages and workers.

After each part, the vault is recovered in another profile, although one gateway returns false data. The result must be
the last acknowledged snapshot, or a later one that the service stores and whose acknowledgement was lost.
HOLDFAST_TEST_LIVES sets the number of parts, and HOLDFAST_TEST_SEED sets the random seed. In the gate, the scenarios of
vectors/flows (publish_first, publish_change, recover_published) lose requests and responses one at a time.
"""

import contextlib
import os
import random
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Error as PageError
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, outcome, visit

PARTS = int(os.environ.get("HOLDFAST_TEST_LIVES", "10"))
SEED = int(os.environ.get("HOLDFAST_TEST_SEED", "11"))
BY_HAND = {"snapshots": {"automatic": False}}
KEY = "{kind: 'secret', id: 'device', secret: new Uint8Array(32).fill(7)}"
# Paths of requests that change state on the service; such a request, or its response, may be lost.
WRITES = ("/api/v0/dag/import", "/pins", "/routing/v1/ipns/", "/ipns/")
OPEN = f"const opened = await client.vault.unlock({KEY}); if (!opened.success) throw new Error(opened.error)"
SAVE = "return client.vault.exec('resource:services action:create', {id: 'ROW', type: 'note', endpoint: 'https://x.example'})"
ROWS = "(await client.vault.exec('resource:services action:list')).result.map(({id}) => id)"
PUBLISH = "return (await client.snapshots()).publish()"
STATE = "return (await client.snapshots()).state()"
RECOVER = f"""
  const found = await client.recover({{key: {KEY}, name: 'NAME'}});
  return {{...found, rows: {ROWS}}};
"""


@dataclass
class Network:
    """A simulated, unreliable network between a page and the service."""

    random: random.Random
    lost_requests: int = 0
    lost_answers_to: str = ""
    cut_uploads: int = 0

    async def pass_on(self, route):
        """Drop or truncate a request, drop its response, or let it through, even if the page is closed meanwhile."""
        with contextlib.suppress(PageError):
            path = route.request.url.split("/", 3)[3]
            if not ("/" + path).startswith(WRITES):
                await route.continue_()
            elif self.lost_requests:
                self.lost_requests -= 1
                await route.abort()
            elif self.cut_uploads and path.startswith("api/v0/dag"):
                self.cut_uploads -= 1
                whole = route.request.post_data_buffer or b""
                await route.fetch(post_data=whole[: self.random.randrange(len(whole) or 1)])
                await route.abort()
            elif self.lost_answers_to and ("/" + path).startswith(self.lost_answers_to):
                self.lost_answers_to = ""
                await route.fetch()
                await route.abort()
            else:
                await route.continue_()


@dataclass
class Life:
    """A browser with a vault, and the snapshots that the service has acknowledged to it.

    `rows` has the rows of every snapshot that was sent, by root.
    """

    context: object
    server: object
    network: Network
    written: list[str] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)
    acknowledged: str = ""

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
        self.page = await self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        await visit(self.page, self.server)
        await self.page.evaluate(CLIENT, BY_HAND)

    async def killed(self):
        """Close the page at any time, and open another page, which finds what the browser stored."""
        await self.page.close()
        await self.open()
        opened = await outcome(self.page, OPEN)
        assert "message" not in opened, opened

    async def worker_killed(self):
        """Terminate the vault's worker in the middle of an upload."""
        code = "const going = client.snapshots().then((it) => it.publish()).catch(() => {}); client.vault.close(); await going"
        await outcome(self.page, code)
        await self.killed()

    async def edit(self):
        name = f"row {len(self.written)}"
        done = await outcome(self.page, SAVE.replace("ROW", name))
        assert done["value"]["success"], done
        self.written.append(name)

    async def publish(self):
        told = await outcome(self.page, PUBLISH)
        state = await self.sent()
        if "value" in told:
            assert told["value"]["status"] == "pinned", told
            self.acknowledged = state["acknowledgedRoot"]

    async def killed_while_publishing(self):
        with contextlib.suppress(PageError):
            await self.page.evaluate("client.snapshots().then((it) => void it.publish().catch(() => {}))")
        await self.page.wait_for_timeout(self.network.random.randrange(300))
        await self.sent()
        await self.killed()
        await self.note_sent()

    async def sent(self):
        """Note the rows of the snapshots that were stored locally before they were sent; return the client's state."""
        state = (await outcome(self.page, STATE))["value"]
        for root in filter(None, (state["rootCid"], state["sentRoot"])):
            self.rows.setdefault(root, list(self.written))
        return state

    async def note_sent(self):
        """Record what an interrupted upload led to."""
        self.acknowledged = (await self.sent())["acknowledgedRoot"] or self.acknowledged

    async def step(self, kind):
        choose = self.network.random
        if kind == "lose requests":
            self.network.lost_requests = choose.randrange(1, 7)
        elif kind == "lose an answer":
            self.network.lost_answers_to = choose.choice(WRITES)
        elif kind == "cut an upload":
            self.network.cut_uploads = 1
        else:
            await getattr(self, kind)()
            if kind == "worker_killed":
                await self.note_sent()


# Each part of a sequence contains all of these steps, in a random order.
KINDS = (
    "edit", "edit", "edit", "publish", "publish", "lose requests", "lose an answer", "lose an answer", "cut an upload",
    "publish", "killed", "worker_killed", "killed_while_publishing",
)  # fmt: skip


async def recovered(browser, server, name):
    """Return what is recovered from the name and the key in an empty profile; one gateway returns false data."""
    service = f"http://localhost:{server.port}"

    async def lie(route):
        if "/ipns/" in route.request.url:
            await route.fulfill(response=await route.fetch(url=service + route.request.url.partition("/liar")[2]))
        else:
            await route.fulfill(body="other bytes")

    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.route("**/liar/**", lie)
    await visit(page, server)
    await page.evaluate(CLIENT, {"snapshots": {"automatic": False, "gatewayUrl": f"{service}/liar"}})
    found = await outcome(page, RECOVER.replace("NAME", name))
    await page.context.close()
    assert "value" in found, found
    return found["value"]


@pytest.mark.soak
async def test_what_was_acknowledged_comes_back(browser, serve):
    server, chosen = serve(), random.Random(SEED)
    context = await browser.new_context()
    network = Network(chosen)
    life = Life(context, server, network)
    await life.begin()
    await context.route("**/*", network.pass_on)
    for part in range(PARTS):
        steps = chosen.sample(KINDS, len(KINDS))
        for step in steps:
            await life.step(step)
        network.lost_requests, network.lost_answers_to, network.cut_uploads = 0, "", 0
        found = await recovered(browser, server, life.name)
        assert found["rows"] == life.rows[found["rootCid"]], (SEED, part, steps)
        state = (await outcome(life.page, STATE))["value"]
        assert found["rootCid"] in {life.acknowledged, state["acknowledgedRoot"], state["sentRoot"]}, (
            SEED,
            part,
            steps,
        )
        # Once the network works, every change must have been acknowledged and be recoverable.
        await life.publish()
        found = await recovered(browser, server, life.name)
        assert (found["rootCid"], found["rows"]) == (life.acknowledged, life.written), (SEED, part, steps)
