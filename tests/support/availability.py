"""Checks whether a real chain can run here; without a recent Node and its packages, tests with a chain are skipped."""

from __future__ import annotations

from functools import cache

import pytest

from holdfast.world import tools
from holdfast.world.errors import NodeMissing


@cache
def why_no_chain() -> str | None:
    try:
        tools.find_node()
    except NodeMissing as why:
        return f"did not run on a real chain: {why}"
    if not (tools.CHECKOUT / "@pimlico" / "alto").is_dir() or not tools.anvil_in(tools.CHECKOUT).exists():
        return "did not run on a real chain: contracts/node_modules is not installed"
    return None


needs_chain = pytest.mark.skipif(why_no_chain() is not None, reason=why_no_chain() or "")
