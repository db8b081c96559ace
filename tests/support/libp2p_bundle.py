"""Builds the libp2p bundle that a service in a checkout serves, once, when a test needs it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("browser/src/pairing/libp2p.js", "browser/src/pairing/frames.js", "browser/package-lock.json")


def built() -> Path:
    """Build the bundle if it is missing or older than its sources, and return the path."""
    spec = importlib.util.spec_from_file_location("browser_build", ROOT / "browser" / "build.py")
    assert spec and spec.loader
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    bundle = Path(builder.BUNDLES / builder.BUNDLE)
    newest = max((ROOT / name).stat().st_mtime for name in SOURCES)
    if not bundle.exists() or bundle.stat().st_mtime < newest:
        builder.build_bundles(builder.BUNDLES)
    return bundle
