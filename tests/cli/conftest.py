"""The command line as operators meet it: every command is a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.operator import Answer


@pytest.fixture
def holdfast(tmp_path: Path) -> Callable[..., Answer]:
    """Runs the command; no run may end in a traceback."""
    return Operator(tmp_path / "data")
