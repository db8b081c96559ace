"""How to install what an extra brings.

The command names the extra's packages and not the extra: a package registry may have a stranger's package under this
distribution's name, and pip would install that one instead.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

DISTRIBUTIONS = ("holdfast-vault", "holdfast-vault-client")
_OF_EXTRA = re.compile(r"""extra == ["']([\w-]+)["']""")


def install_command(*extras: str) -> str:
    """Return a command that installs the packages of the first of these extras that the installed distribution has."""
    for distribution in DISTRIBUTIONS:
        for extra in extras:
            if packages := packages_of(distribution, extra):
                return "pip install " + " ".join(f"'{package}'" for package in packages)
    return f"install the packages of the extra {extras[0]} in pyproject.toml"


def packages_of(distribution: str, extra: str) -> list[str]:
    """Return the extra's requirements from the installed metadata, without markers; none if it is not installed."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:
        return []
    return [line.partition(";")[0].strip() for line in lines if extra in _OF_EXTRA.findall(line)]
