"""Checks of what a person types: addresses and URLs."""

from __future__ import annotations

import sys

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail


def check_typing(text: str, what: str) -> None:
    """Raise ValueError for an address with a typing error: its checksum (EIP-55) is wrong, or it is zero."""
    from holdfast.client.flows.accounts import ADDRESS, address_in

    if ADDRESS.fullmatch(text):
        address_in(text, what)


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
