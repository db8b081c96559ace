"""What a host of snapshots answers to an upload (vectors/service/uploads.json)."""

from types import SimpleNamespace

import httpx2
import pytest
from tests.support.vector_files import vectors

from holdfast.client.snapshots.hosts import SnapshotHosts
from holdfast.client.types.persistence import SnapshotConfig
from holdfast.wire.client_errors import StorageError

FILE = vectors("service/uploads")
SNAPSHOT = SimpleNamespace(root_cid=FILE["root"], to_car=lambda: b"")


async def token(_audience):
    return "token"


async def uploaded(answer, pinning_url):
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, text=answer))
    config = SnapshotConfig(pinning_url=pinning_url)
    hosts = SnapshotHosts("https://service.example", config, token=token, transport=transport)
    try:
        await hosts.upload(SNAPSHOT)
    except StorageError:
        return False
    finally:
        await hosts.close()
    return True


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
async def test_what_acknowledges_an_upload(case):
    assert await uploaded(case["answer"], "") == case["if_it_pins"]
    assert await uploaded(case["answer"], None) == case["if_another_pins"]
