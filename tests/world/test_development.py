import asyncio
import os
import signal
import subprocess
import sys

from holdfast.world.development import run_to_the_end
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
