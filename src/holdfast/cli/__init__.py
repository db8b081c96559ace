"""The `holdfast` command.

Each group of commands is in its own module, which is imported only when one of the group's commands is called.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line, as the entry point of the `holdfast` script."""
    for stream in ("stdout", "stderr"):  # a closed one is None, and the next file that is opened would get its number
        if getattr(sys, stream) is None:
            setattr(sys, stream, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    try:
        from holdfast.cli.root import root

        code = root()
    except KeyboardInterrupt:  # while modules are imported; later, typer exits with the same code
        code = 130
    sys.exit(code)
