"""What many tests of the client use: the store of one vault, and a host of snapshots."""

import pytest
from tests.client.snapshots.fake_host import FakeHost

from holdfast.client.storage.vault_store import VaultStore


@pytest.fixture
def store(tmp_path):
    with VaultStore(directory=tmp_path) as opened:
        yield opened


@pytest.fixture
def host():
    """A host that pins at once."""
    return FakeHost(steps=("pinned",))
