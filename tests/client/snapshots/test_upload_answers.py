"""The JavaScript client's upload reports every answer that acknowledges nothing as a StorageError. Runs without a browser."""

from __future__ import annotations

import pytest
from tests.support.javascript import run_module

ROOT = "bafyreiahvls5g7zh5yl2aja4b7xj5nhs4x3uu6ye2zbkoa74t4iorfmigq"
OTHER = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
LINE = '{{"Root":{{"Cid":{{"/":"{}"}}}}}}\n'


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (LINE.format(ROOT), None),
        ("<html>Welcome to the hotel", "StorageError"),
        (LINE.format(ROOT) + "{", "StorageError"),
        ('{"Root":7}', "StorageError"),
        (LINE.format(OTHER), "StorageError"),
    ],
)
def test_an_upload_that_is_not_acknowledged_is_a_storage_error(answer, error):
    code = """
      const { SnapshotPlace } = await import("SOURCES/snapshots/place.js");
      const place = new SnapshotPlace("https://service.example", {}, { mint: async () => "token", fetch: async () => new Response(given.answer) });
      return place.upload({ rootCid: given.root, blocks: [] }).then(() => null, ({ name }) => name);
    """
    assert run_module(code, {"answer": answer, "root": ROOT}) == error
