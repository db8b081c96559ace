"""What `holdfast dev` shows, how it ends, and which folders it removes."""

import asyncio
import os
import signal
import subprocess
import sys

from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.world.development import run_to_the_end
from holdfast.world.facts import next_steps, table_of
from holdfast.world.home import remove_abandoned


def test_folders_of_the_dead_are_removed_and_of_the_living_kept(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    abandoned, ours, other = (
        tmp_path / name for name in (f"holdfast-dev-{ended.pid}-x", f"holdfast-dev-{os.getpid()}-y", "holdfast-dev-x-y")
    )
    for folder in (abandoned, ours, other):
        folder.mkdir()
        (folder / "file").touch()
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([ours, other])


def test_a_signal_ends_the_work_after_its_clean_up_and_a_result_is_handed_back():
    cleaned = []

    async def work():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(True)

    assert run_to_the_end(work()) is None
    assert cleaned == [True]
    assert run_to_the_end(asyncio.sleep(0, 5)) == 5


def test_the_table_shows_every_address_whole_and_what_to_try_next():
    facts = {name: f"http://localhost:{number}" for number, name in enumerate(("service", "rpc", "bundler", "indexer"))}
    facts |= {name: f"/d/{name}" for name in ("data", "outbox", "logs")} | {"chainId": 84532}
    facts |= {"entryPoints": {one.version: one.address for one in ENTRY_POINTS}, "contracts": dict(ADDRESSES)}
    facts["testAccount"] = {"address": "0x" + "1" * 40, "privateKey": "0x" + "2" * 64}
    table, steps = table_of(facts), next_steps(facts)
    addresses = [*facts["entryPoints"].values(), *ADDRESSES.values(), *facts["testAccount"].values()]
    for value in (*addresses, *(facts[name] for name in ("service", "rpc", "bundler", "outbox"))):
        assert any(value in line for line in table.splitlines()), value
    assert any(facts["testAccount"]["address"] in step for step in steps)
    assert all(step in table for step in steps)
    assert steps[0].startswith("open http://localhost:0 "), "people begin with the pages"
