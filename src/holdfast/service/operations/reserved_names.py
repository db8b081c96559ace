"""The list of reserved names: built-in names, with additions and exceptions from the operator's files."""

from __future__ import annotations

import logging
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.rules.reserved_identifiers import ReservedList, read_names, reserved_list

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger("holdfast.reserved")
_ADDED, _ALLOWED = "HOLDFAST_RESERVED_FILE", "HOLDFAST_RESERVED_ALLOW_FILE"
Stamp = tuple[int, int] | None  # when a file was changed, and its size; None for a missing file
Stamps = list[Stamp]


class ReservedNames:
    """Provides the current list of reserved names."""

    def __init__(self, added: Path | None, allowed: Path | None) -> None:
        """Read all names. Raises ValueError, which names the setting, for a file or a line that cannot be used."""
        self._added = added
        self._allowed = allowed
        self._stamps = self._seen = self._look()
        self._list = self._read()

    def current(self) -> ReservedList:
        """Return the current list. This costs one attribute access."""
        return self._list

    def refresh(self, *, force: bool = False) -> bool:
        """Re-read the files if they changed; returns whether the list was replaced.

        An invalid file does not change the list, nor does one that is being written: a changed file is read once it was
        found the same twice, and is read again if it changed meanwhile. With `force`, files are read at once.
        """
        stamps, seen = self._look(), self._seen
        self._seen = stamps
        if not force and (stamps == self._stamps or stamps != seen):
            return False
        found = self._read_whole(stamps)
        if found is None:
            return False
        self._list = found
        _log.info("reserved list re-read", extra={"count": len(found.names)})
        return True

    def _read_whole(self, stamps: Stamps) -> ReservedList | None:
        """Return the list in the files; None if a file is invalid, which is logged, or changes while it is read."""
        found, why = None, ""
        try:
            found = self._read()
        except ValueError as error:
            why = str(error)
        if self._look() != stamps:
            return None
        self._stamps = stamps
        if found is None:
            _log.error("reserved list not re-read", extra={"why": why})
        return found

    def _look(self) -> Stamps:
        return [_stamp(path) for path in (self._added, self._allowed)]

    def _read(self) -> ReservedList:
        added, allowed = _lines(self._added, _ADDED), _lines(self._allowed, _ALLOWED)
        try:
            return reserved_list([*built_in_names(), *added], allowed)
        except ValueError as error:
            raise ValueError(f"{_ADDED} or {_ALLOWED}: {error}") from None


def _lines(file: Path | None, setting: str) -> list[str]:
    try:
        return read_names(file.read_text("utf-8")) if file else []
    except OSError as error:
        raise ValueError(f"{setting}: the file cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{setting}: the file is not UTF-8") from None


def built_in_names() -> list[str]:
    """Return Holdfast's built-in names."""
    return read_names((files("holdfast.rules") / "data" / "reserved_identifiers.txt").read_text("utf-8"))


def _stamp(path: Path | None) -> Stamp:
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if status else None
