"""Builds what a release consists of into `dist/`: `tools/release.py build|release`.

`build` writes the wheels, the source distribution and the exit page. `release` also writes the npm package, the context
of the image, a bill of materials (CycloneDX 1.6), the licence texts of the bundled packages, and the checksums of all
files.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from bill_of_materials import NOTICES, bill

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
EXIT = ROOT / "build" / "exit" / "holdfast-exit.html"
SUMS = "SHA256SUMS"
_MOMENT = 1_577_836_800  # 2020-01-01, so that the same sources give the same archives
_EXECUTABLE, _PLAIN = 0o755, 0o644


def main() -> int:
    """Build into an empty `dist/`, list its files, and return 0. Raises CalledProcessError if a step fails."""
    if sys.argv[1:] not in (["build"], ["release"]):
        print("usage: python tools/release.py build|release")
        return 2
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    _packages()
    _exit_page(required=sys.argv[1] == "release")
    if sys.argv[1] == "release":
        _release()
    for file in sorted(DIST.iterdir()):
        print(f"dist/{file.name}  {file.stat().st_size} bytes")
    return 0


def _packages() -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(DIST)]
    subprocess.run(build, check=True, cwd=ROOT)
    subprocess.run([*build, "-t", "wheel"], check=True, cwd=ROOT / "packaging" / "client")


def _exit_page(*, required: bool) -> None:
    """Write the exit page. Like the client's minified form, it may be missing from a build without npm."""
    subprocess.run([sys.executable, str(ROOT / "enclave" / "build.py")], check=True, cwd=ROOT)
    done = subprocess.run([sys.executable, str(ROOT / "browser" / "build.py"), "exit"], check=required, cwd=ROOT)
    if done.returncode == 0:
        shutil.copyfile(EXIT, DIST / EXIT.name)


def _release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = f"{project['name']}-{project['version']}"
    subprocess.run([sys.executable, str(ROOT / "browser" / "build.py")], check=True, cwd=ROOT)
    npm = ROOT / "build" / "npm"
    _archive(DIST / f"{named}.tgz", "package", npm, (file for file in npm.rglob("*") if file.is_file()))
    _archive(DIST / f"{named}-image.tar.gz", named, ROOT, image_files())
    (DIST / f"{named}.cdx.json").write_text(bill(ROOT, ROOT / "build" / "client"), "utf-8")
    notices = (ROOT / folder / NOTICES for folder in ("src/holdfast", "build/client"))
    (DIST / NOTICES).write_text("\n".join(file.read_text("utf-8") for file in notices), "utf-8")
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(DIST.iterdir())]
    (DIST / SUMS).write_text("".join(sums), "utf-8")


def image_files() -> list[Path]:
    """Return the tracked files that .dockerignore lets through, and the Dockerfile."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    passed = [line[1:] for line in lines if line.startswith("!")]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "Dockerfile", ".dockerignore", *passed],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def _archive(target: Path, top: str, root: Path, files: Iterable[Path]) -> None:
    """Write a .tar.gz of files below `root`, under the folder `top`; the same files give the same bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for file in sorted(files):
            entry = tarfile.TarInfo(f"{top}/{file.relative_to(root).as_posix()}")
            entry.size, entry.mtime = file.stat().st_size, _MOMENT
            entry.mode = _EXECUTABLE if file.stat().st_mode & 0o100 else _PLAIN
            archive.addfile(entry, io.BytesIO(file.read_bytes()))
    target.write_bytes(gzip.compress(plain.getvalue(), mtime=_MOMENT))


if __name__ == "__main__":
    raise SystemExit(main())
