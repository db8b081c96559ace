"""A disk that is slow for one server's processes, throttled by the kernel (cgroup v1 blkio or v2 io); needs root."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_EMPTY_WITHIN_S = 30.0


def why_not(folder: Path) -> str | None:
    """Return why the disk under a folder cannot be slowed down here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    if not (_ROOT / "blkio").is_dir() and "io" not in _controllers():
        return "the kernel offers no limit of input and output to this root (blkio, or io in cgroup.controllers)"
    if _disk_of(folder) is None:
        return f"{folder} is not on a disk"
    group = _group()
    try:
        group.mkdir()
        (group / _limit_file()).write_text(_limit(_disk_of(folder) or "", 100))
    except OSError as error:
        return f"the kernel refuses a limit: {error}"
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()
    return None


@contextlib.contextmanager
def slow_disk(folder: Path, processes: Iterable[int], writes_per_s: int) -> Iterator[None]:
    """Within the block, limit how often these processes and their children write to the folder's disk."""
    group = _group()
    group.mkdir()
    try:
        (group / _limit_file()).write_text(_limit(_disk_of(folder) or "", writes_per_s))
        _move(processes, group)
        yield
    finally:
        (group / _limit_file()).write_text(_limit(_disk_of(folder) or "", None))
        _empty(group)


def _move(processes: Iterable[int], group: Path) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(process))


def _empty(group: Path) -> None:
    """Move all processes out and remove the group. The server may fork meanwhile, and processes may linger."""
    deadline = time.monotonic() + _EMPTY_WITHIN_S
    while True:
        _move(map(int, (group / "cgroup.procs").read_text().split()), group.parent)
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def _is_v1() -> bool:
    return (_ROOT / "blkio").is_dir()


def _controllers() -> list[str]:
    file = _ROOT / "cgroup.subtree_control"
    return file.read_text().split() if file.is_file() else []


def _group() -> Path:
    return (_ROOT / "blkio" if _is_v1() else _ROOT) / f"holdfast-{uuid.uuid4().hex[:8]}"


def _limit_file() -> str:
    return "blkio.throttle.write_iops_device" if _is_v1() else "io.max"


def _limit(disk: str, writes_per_s: int | None) -> str:
    if _is_v1():
        return f"{disk} {writes_per_s or 0}"
    return f"{disk} wiops={writes_per_s or 'max'}"


def _disk_of(folder: Path) -> str | None:
    """Return the number of the whole disk that contains a folder, because the kernel cannot throttle partitions."""
    device = folder.stat().st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not place.exists():
        return None
    whole = place.resolve().parent if (place / "partition").exists() else place
    return (whole / "dev").read_text().strip()
