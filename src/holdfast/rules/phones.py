"""Phone numbers: their E.164 form, their country, and the numbers to which no text message is ever sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

# Numbers with letters are refused, because the parser below would drop a single letter, but read three or more as
# keypad digits.
_PHONE = re.compile(r"\+[0-9(][0-9()./-]*")
_NO_COUNTRY = "001"  # satellite, premium and other networks that belong to no country in the numbering plans


def phone_key(text: str) -> str:
    """Return the number in E.164. Raises ValueError for an impossible number, or one that costs extra.

    Premium-rate and shared-cost numbers pay a third party for each message, and numbers that belong to no country
    (satellite, international premium) cost many times the usual price. No code is sent to such numbers, so they cannot
    be identifiers.
    """
    # Imported here because only requests about phone numbers need the numbering plans.
    import phonenumbers

    if not _PHONE.fullmatch(text):
        raise ValueError("not in international form")
    try:
        number = phonenumbers.parse(text)
    except phonenumbers.NumberParseException as error:
        raise ValueError("no phone number") from error
    if number.extension or not phonenumbers.is_possible_number(number):
        raise ValueError("no possible phone number")
    costly = {phonenumbers.PhoneNumberType.PREMIUM_RATE, phonenumbers.PhoneNumberType.SHARED_COST}
    if phonenumbers.number_type(number) in costly or _region(number) == _NO_COUNTRY:
        raise ValueError("a number that costs extra")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def country_of(key: str) -> str:
    """Return the ISO 3166-1 code of an E.164 number's country, even for a calling code that several countries share."""
    import phonenumbers

    return _region(phonenumbers.parse(key))


def _region(number: PhoneNumber) -> str:
    import phonenumbers

    # A number that no numbering plan lists yet counts towards the main country of its calling code.
    found = phonenumbers.region_code_for_number(number)
    return found or phonenumbers.region_code_for_country_code(number.country_code or 0)
