"""A metadata hook for Hatchling, which adds the addresses of the project's public repository to a package."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "HOLDFAST_PROJECT_URL"
# What a package index shows next to a package (https://packaging.python.org/specifications/well-known-project-urls/).
PLACES = {
    "Repository": "",
    "Documentation": "/tree/main/docs",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


class ProjectUrls(MetadataHookInterface):
    """Takes the repository's address from HOLDFAST_PROJECT_URL, because a fork or a mirror has another one."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `urls`, or nothing if the variable is unset. Raises ValueError if it is not an https address."""
        if base := os.environ.get(VARIABLE, "").rstrip("/"):
            metadata["urls"] = project_urls(base)


def project_urls(base: str) -> dict[str, str]:
    """Return the addresses by label. Raises ValueError if `base` is not an https address without credentials."""
    parts = urlsplit(base)
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"{VARIABLE}: an address such as https://example.org/holdfast is needed")
    return {label: base + path for label, path in PLACES.items()}
