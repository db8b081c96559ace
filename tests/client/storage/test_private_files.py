"""Secrets are read only from a file of the user's own, and never through a link."""

import errno
import os

import pytest

from holdfast.client.storage.private_files import private_folder, read_private, write_private


@pytest.fixture
def file(tmp_path):
    write_private(tmp_path / "secret", b"secret")
    return tmp_path / "secret"


def test_an_own_file_is_read(file):
    assert read_private(file) == b"secret" and file.stat().st_mode & 0o777 == 0o600


def test_the_file_or_folder_of_another_user_is_refused(file, monkeypatch):
    folder, another = private_folder(file.parent / "folder"), os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    with pytest.raises(PermissionError, match="not a file of this user's"):
        read_private(file)
    with pytest.raises(ValueError, match="not a folder of this user's alone"):
        private_folder(folder)


def test_a_disk_without_links_has_new_files_too_and_none_is_replaced(tmp_path, monkeypatch):
    """As FAT and exFAT."""
    faster = []

    def link(_, place):
        for _ in faster:
            place.write_bytes(b"another's")
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    write_private(tmp_path / "share", b"share", replace=False)
    assert read_private(tmp_path / "share") == b"share"
    faster.append(True)
    with pytest.raises(ValueError, match="File exists"):
        write_private(tmp_path / "other", b"", replace=False)
    assert {it.name: it.read_bytes() for it in tmp_path.iterdir()} == {"share": b"share", "other": b"another's"}


def test_a_link_or_a_folder_is_refused(file, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(file)
    for other in (link, tmp_path):
        with pytest.raises(OSError, match=r"symbolic links|directory"):
            read_private(other)
        with pytest.raises(ValueError, match="name a file"):
            write_private(other, b"")
