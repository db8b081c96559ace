"""Reading what the kernel has in memory, and leaving the rest to a thread."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from holdfast.service.snapshots import page_cache
from holdfast.service.snapshots.object_blocks import ObjectBlocks
from holdfast.service.snapshots.page_cache import read_cached

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="only Linux says whether a file is in memory")


@linux
@pytest.mark.parametrize("size", [0, 1, 100_000, 1024 * 1024])
def test_a_file_that_was_just_written_is_in_memory(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    (tmp_path / "block").write_bytes(data)
    assert read_cached(str(tmp_path / "block")) in {data, None}  # memory may be short
    assert read_cached(str(tmp_path / "missing")) is None


def test_a_file_that_is_larger_than_a_block_is_left_to_a_thread(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(1024 * 1024 + 1))
    assert read_cached(str(tmp_path / "large")) is None


@pytest.mark.parametrize("refusal", [errno.EAGAIN, errno.EOPNOTSUPP, None])
async def test_what_is_not_in_memory_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int | None
) -> None:
    """The disk would have to be waited for, the file system cannot tell, or only a part is there."""

    def preadv(*_: object) -> int:
        if refusal is None:
            return 3
        raise OSError(refusal, "no")

    monkeypatch.setattr(page_cache.os, "preadv", preadv)
    blocks = ObjectBlocks(f"file://{tmp_path}/blocks")
    await blocks.put_all([("bafkrei.1", b"some bytes")])
    assert await blocks.get_all(["bafkrei.1", "none.2"]) == [b"some bytes", None]
