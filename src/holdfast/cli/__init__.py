"""The `holdfast` command. Each group of commands is one module, imported only when it is called."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `holdfast` script."""
    from holdfast.cli.root import root

    sys.exit(root())
