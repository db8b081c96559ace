"""Checks of what a person types: addresses and URLs."""

from __future__ import annotations

import re
import sys

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")


def check_typing(text: str, what: str) -> None:
    """Raise ValueError for an address with a typing error: its checksum (EIP-55) is wrong, or it is zero."""
    from holdfast.client.leaving.moves import address_of

    if _ADDRESS.fullmatch(text):
        address_of(text, what)


def url_option(option: str, url: str) -> str:
    """Return the URL without a slash at its end. Exits with USAGE, before anything was done, if it is not one."""
    from holdfast.client.http.transport import checked_base_url

    try:
        return checked_base_url(url)
    except ValueError as error:
        fail(Exit.USAGE, str(error).replace("base_url", option), as_json="--json" in sys.argv)


def url_options(option: str, urls: list[str] | None) -> list[str] | None:
    """The same for an option that can be repeated."""
    return urls and [url_option(option, url) for url in urls]
