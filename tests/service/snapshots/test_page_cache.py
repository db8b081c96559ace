"""A file in the page cache is read directly; any other file must be read in a thread."""

import errno
import os

import pytest

from holdfast.service.snapshots import page_cache
from holdfast.service.snapshots.page_cache import read_cached

linux = pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="only Linux says whether a file is in memory")


def read(file, size):
    """Return the file's first `size` bytes if all of them are in the page cache, or None."""
    data = bytearray(size)
    return bytes(data) if read_cached(str(file), memoryview(data)) else None


def read_at_last(file, size):
    """Repeat `read` until it succeeds, because the kernel may drop cached pages under memory pressure."""
    for _ in range(20):
        data = read(file, size)
        if data is not None:
            return data
        file.read_bytes()
    return None


@linux
@pytest.mark.parametrize("size", [0, 1, 4096, 1024 * 1024])
def test_a_file_that_was_just_written_is_in_memory_and_one_of_another_size_fills_nothing(tmp_path, size):
    data = os.urandom(size)
    (tmp_path / "block").write_bytes(data)
    assert read_at_last(tmp_path / "block", size) == data
    assert read_at_last(tmp_path / "block", size + 1) is None
    assert not size or read_at_last(tmp_path / "block", size - 1) is None
    assert read(tmp_path / "missing", size) is None and read(tmp_path, 8192) is None


def refuses(*_):
    raise OSError(errno.EAGAIN, "no")


@pytest.mark.parametrize(
    ("name", "value"), [("preadv", refuses), ("preadv", lambda *_: 3), ("preadv", None), ("NOWAIT", 0)]
)
def test_what_is_not_in_memory_is_not_waited_for(tmp_path, monkeypatch, name, value):
    """The data is only on disk or only partly cached, or the system does not support the query."""
    monkeypatch.setattr(page_cache, name, value)
    (tmp_path / "block").write_bytes(b"some bytes")
    assert read(tmp_path / "block", 10) is None
