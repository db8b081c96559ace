"""`kill -9` of the client, the service or both, at random moments of uploads: acknowledged snapshots can be recovered.

HOLDFAST_TEST_KILLS sets the number of rounds, and HOLDFAST_TEST_SEED sets the seed for the random times.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.client.snapshots.devices import SECRET, Device
from tests.support.soak import amount
from tests.support.vault_tokens import AUDIENCE

from holdfast.client import types
from holdfast.content.cids import raw_block

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = amount(1, 20, "HOLDFAST_TEST_KILLS")
SEED = int(os.environ.get("HOLDFAST_TEST_SEED", "1"))
CONFIG = types.SnapshotConfig(automatic=False, service_did=AUDIENCE)
LONGEST_S = 0.6  # several uploads take this long


class Life:
    """A person's device and a service, both of which are killed many times.

    Attributes:
        acknowledged: root of the last snapshot that the client was told is stored.
    """

    def __init__(self, folder, serve):
        self.folder, self._start = folder, serve
        self.server = self.started(None)
        self.acknowledged = self.name = None

    def started(self, data):
        return self._start(data, snapshots_free_bytes="0", registrar_did=AUDIENCE, max_registrations_per_ip="100")

    def device(self, folder):
        return Device(self.folder / folder, config=CONFIG, url=self.server.url)

    async def begin(self):
        async with self.device("vault") as device:
            await device.made()
            await device.client.register(handle="killed")
            self.acknowledged = (await device.client.publish_snapshot()).acknowledged_root
            self.name = await device.name()

    def killed(self, who, after_s):
        """Let the client publish repeatedly for `after_s` seconds, then kill and restart `who`."""
        command = [sys.executable, "-m", "tests.support.publishing_child", str(self.folder / "vault")]
        with subprocess.Popen(
            [*command, self.server.url, AUDIENCE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        ) as child:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            time.sleep(after_s)
            if who in {"service", "both"}:
                self.server.kill_all()
                time.sleep(0.05 if who == "service" else 0)
            child.kill()
            roots = child.stdout.read().split("\n")[:-1]  # an incomplete line is not an acknowledgement
        self.acknowledged = roots[-1] if roots else self.acknowledged
        if who != "client":
            self.server = self.started(self.server.data)

    async def check(self, round_number):
        """Assert that a new device recovers the last acknowledged snapshot or one whose acknowledgement was lost."""
        async with self.device(f"new{round_number}") as new:
            found = await new.client.recover(key=SECRET, name=self.name)
            recovered = new.store.load().sealed
        async with self.device("vault") as device:
            assert (await device.vault.unlock(SECRET)).success
            state = await device.client.snapshot_state()
            assert found.root_cid in {self.acknowledged, state.acknowledged_root, state.sent_root}
            revisions = [device.store.load(found.did, number) for number in device.store.revisions(found.did)]
            (same,) = [stored for stored in revisions if raw_block(stored.sealed) == raw_block(recovered)]
            assert same.revision == found.revision >= state.acknowledged_revision
            self.acknowledged = (await device.client.publish_snapshot()).acknowledged_root
            assert (await device.client.snapshot_state()).status == "pinned"
            newest = device.store.load().sealed
        assert raw_block(newest).cid != raw_block(recovered).cid or found.root_cid == self.acknowledged


@pytest.mark.timeout(3600)
async def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path, serve):
    life, moments = Life(tmp_path, serve), random.Random(SEED)
    await life.begin()
    for number in range(ROUNDS):
        who, after_s = moments.choice(["client", "client", "service", "both"]), moments.uniform(0, LONGEST_S)
        life.killed(who, after_s)
        await life.check(number)
    async with life.device("last") as last:
        assert (await last.client.recover(key=SECRET, name=life.name)).root_cid == life.acknowledged
