"""Two windows note something at the same time, and nothing is lost."""

import asyncio

from tests.support.pages import Pages, serving
from tests.support.unbuilt_client import MODULES

ROWS = 30
NOTED = """
async ([prefix, rows]) => {
  const { addFacts, noteSent } = await import("/kit/notes.js");
  const { noteTrial } = await import("/pages/drill/trials.js");
  const { rememberPayee } = await import("/kit/payees.js");
  for (let number = 0; number < rows; number += 1) {
    const name = `${prefix}${number}`;
    await Promise.all([noteSent("did", { hash: name }), addFacts("did", { [name]: 1 }), noteTrial("did", name), rememberPayee(name)]);
  }
}
"""
READ = """
async () => {
  const { facts, sentRows } = await import("/kit/notes.js");
  const { paidBefore } = await import("/kit/payees.js");
  const { tried, ...others } = await facts("did");
  const hashes = (await sentRows("did")).map(({ hash }) => hash);
  return [hashes, Object.keys(others), Object.keys(tried), await paidBefore()].map((names) => names.sort());
}
"""


class Modules(Pages):
    def page(self):
        file = MODULES / "src" / self.path.lstrip("/")
        return (file.read_bytes(), "text/javascript") if file.is_file() else (b"<!doctype html>", "text/html")


async def test_what_two_windows_note_at_once_is_all_kept(browser):
    context = await browser.new_context()
    with serving(Modules) as address:
        pages = [await context.new_page() for _ in range(2)]
        for page in pages:
            await page.goto(address)
        await asyncio.gather(*(page.evaluate(NOTED, [prefix, ROWS]) for page, prefix in zip(pages, "ab", strict=True)))
        seen = await pages[0].evaluate(READ)
    assert seen == [sorted(f"{prefix}{number}" for prefix in "ab" for number in range(ROWS))] * 4
