"""Recognises handles that read as something else: an e-mail address, a phone number, an account address, a DID, a host.

Such a handle would be taken for the address or host that it spells, so it cannot be registered (docs/decisions/0980).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


class HandleForm(StrEnum):
    """What a handle reads as."""

    EMAIL = "email"
    PHONE = "phone"
    ACCOUNT = "account"
    DID = "did"
    HOST = "host"


# Endings of host names that people trust: the first top-level domains, and those of services that sell names for
# accounts (ENS, Unstoppable Domains, Solana, BNB Chain, Arbitrum, Lens, Tezos, NEAR, Aptos, Sui, TON, Avalanche and
# others).
ENDINGS: Final = (
    *("com", "org", "net", "edu", "gov", "int", "mil"),
    *("eth", "crypto", "nft", "wallet", "blockchain", "bitcoin", "dao", "x", "888", "zil", "polygon", "unstoppable"),
    *("sol", "bnb", "arb", "lens", "bit", "tez", "near", "apt", "sui", "ton", "avax", "algo", "btc", "stx", "fil"),
)
# Labels that make a host name of this kind together with a country's domain, as in gov.uk.
BEFORE_COUNTRY: Final = ("com", "org", "net", "edu", "gov", "mil", "co", "ac")
_FEWEST_DIGITS = 7  # the shortest phone numbers, with country code
_EMAIL = re.compile(r"[^@]@[^@]")
_PHONE = re.compile(r"\+?[\d()./-]+")
_ACCOUNT = re.compile(r"0x[0-9a-f.]+")


def host_pattern(endings: Iterable[str], before_country: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of handles that are such a host name, or a web address with such a host."""
    ending = rf"\.(?:(?:{'|'.join(endings)})|(?:{'|'.join(before_country)})\.[a-z]{{2}})\.*"
    return re.compile(rf"(?:[a-z]+:/*)?(?:www\.|[^/:?#]*{ending}(?:[/:?#]|$))|.*{ending}$")


_HOST = host_pattern(ENDINGS, BEFORE_COUNTRY)


def form_of(key: str) -> HandleForm | None:
    """Return what a handle in canonical form reads as, or None if it is only a name."""
    if _EMAIL.search(key):
        return HandleForm.EMAIL
    if _PHONE.fullmatch(key) and sum(map(str.isdecimal, key)) >= _FEWEST_DIGITS:
        return HandleForm.PHONE
    if _ACCOUNT.fullmatch(key):
        return HandleForm.ACCOUNT
    if key.startswith("did:"):
        return HandleForm.DID
    return HandleForm.HOST if _HOST.match(key) else None
