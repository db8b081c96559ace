"""Whether a real chain can run here: without Node or its packages these tests say so in the summary, the rest runs."""

from __future__ import annotations

import shutil

import pytest

from holdfast.world import tools


def why_no_chain() -> str | None:
    if shutil.which("node") is None:
        return "did not run on a real chain: Node.js is missing"
    if not (tools.CHECKOUT / "@pimlico" / "alto").is_dir() or not tools._anvil_in(tools.CHECKOUT).exists():
        return "did not run on a real chain: contracts/node_modules is not installed"
    return None


needs_chain = pytest.mark.skipif(why_no_chain() is not None, reason=why_no_chain() or "")
