"""Makes the data folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.settings.rows import SettingError
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from pathlib import Path

_REMEDY = "name a folder on a disk with room that this user may write to"


def make_data_folder(folder: Path) -> None:
    """Make the data folder unless it exists. Raises SettingError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_folder(folder, error) from error


def unusable_folder(folder: Path, error: OSError) -> SettingError:
    """Return what to say when nothing can be written into the data folder."""
    if error.filename not in {None, str(folder)} and os.path.isfile(error.filename):  # noqa: PTH113 - no error
        owner = f"give it to user {os.geteuid()}, who runs Holdfast (chown)"
        return SettingError(f"{error.filename} cannot be read: {file_words(error)}; {owner}")
    what = "written" if folder.is_dir() else "made"
    return SettingError(f"HOLDFAST_DATA_DIR: {folder} cannot be {what}: {file_words(error)}; {_REMEDY}")
