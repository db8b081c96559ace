"""The folder for metrics is deleted when the service stops or, after kill -9, when the next service starts."""

import os
import tempfile

import pytest

from holdfast.service.telemetry.metrics_folder import PREFIX, metrics_folder, sweep


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def left(temporary, name="left"):
    folder = temporary / f"{PREFIX}{name}"
    folder.mkdir(mode=0o700)
    (folder / "counter_1.db").write_bytes(b"counts")
    return folder


def test_a_left_folder_goes_one_in_use_stays_and_nothing_else_is_touched(temporary, tmp_path, monkeypatch):
    left(temporary)
    with metrics_folder() as first, metrics_folder() as second:
        assert sorted(temporary.iterdir()) == sorted([first, second])
        assert first.stat().st_mode & 0o777 == 0o700
        sweep()
        assert first.is_dir() and second.is_dir()
    assert list(temporary.iterdir()) == []
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").write_text("kept")
    (temporary / "holdfast-other").mkdir()
    before = sorted(temporary.iterdir())
    sweep()
    assert sorted(temporary.iterdir()) == before
    assert (elsewhere / "kept").read_text() == "kept"
    folder = left(temporary)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    sweep()
    assert (folder / "counter_1.db").exists(), "another user's"


def test_a_folder_swept_before_it_was_locked_is_made_again(temporary, monkeypatch):
    make, made = tempfile.mkdtemp, []

    def swept_at_once(**options):
        made.append(make(**options))
        if len(made) == 1:
            sweep()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_once)
    with metrics_folder() as folder:
        assert len(made) == 2 and str(folder) == made[1]
        assert list(temporary.iterdir()) == [folder]
