"""Builds what a service in a checkout serves instead of sources that import npm packages, when a test needs it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src/pairing/libp2p.js", "src/pairing/frames.js", "src/kit/qr.js", "package-lock.json")


def built() -> Path:
    """Build the bundles if one is missing or older than the sources, and return their folder."""
    spec = importlib.util.spec_from_file_location("browser_build", ROOT / "browser" / "build.py")
    assert spec and spec.loader
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    folder = Path(builder.BUNDLES)
    newest = max((ROOT / "browser" / name).stat().st_mtime for name in SOURCES)
    files = [folder / name for name in builder.BUNDLED]
    if not all(file.exists() and file.stat().st_mtime >= newest for file in files):
        builder.build_bundles(folder)
    return folder
