"""Secrets are read only from a file of the user's own, and never through a link."""

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


def test_a_link_or_a_folder_is_refused(file, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(file)
    for other in (link, tmp_path):
        with pytest.raises(OSError, match=r"symbolic links|directory"):
            read_private(other)
        with pytest.raises(ValueError, match="name a file"):
            write_private(other, b"")
