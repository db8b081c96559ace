"""The command line as operators use it: every command runs as a separate process."""

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
    """Return a function that runs `holdfast` and asserts that no run ends in a traceback."""
    return Operator(tmp_path / "data")
