"""The `holdfast` command.

Each group of commands is in its own module, which is imported only when one of the group's commands is called.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, as the entry point of the `holdfast` script."""
    try:
        from holdfast.cli.root import root

        code = root()
    except KeyboardInterrupt:  # while modules are imported; later, typer exits with the same code
        code = 130
    sys.exit(code)
