"""Writes and reads bytes as text in multibase's bases: base32, base36 and base58 (Bitcoin's alphabet)."""

from __future__ import annotations

_LETTERS = {
    "b": "abcdefghijklmnopqrstuvwxyz234567",
    "k": "0123456789abcdefghijklmnopqrstuvwxyz",
    "z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
_BITS = 5  # of a base32 digit
MAX_CHARACTERS = 256  # the time grows with the square of the length


def to_multibase(prefix: str, data: bytes) -> str:
    """Encode bytes with multibase's prefix letter: `b` (base32, lower case, no padding), `k` (base36), `z` (base58btc).

    Raises KeyError for another prefix.
    """
    letters = _LETTERS[prefix]
    if prefix == "b":
        spare = -8 * len(data) % _BITS
        digits = _digits(int.from_bytes(data) << spare, letters)
        return prefix + digits.rjust((8 * len(data) + spare) // _BITS, letters[0])
    zeros = len(data) - len(data.lstrip(b"\x00"))
    return prefix + letters[0] * zeros + _digits(int.from_bytes(data), letters)


def from_multibase(text: str) -> bytes:
    """Decode a text in one of the three bases.

    Raises ValueError for another base, a letter that the base does not have, a text that `to_multibase` would spell
    otherwise, or one of more than 256 characters.
    """
    letters = _LETTERS.get(text[:1])
    if letters is None or len(text) > MAX_CHARACTERS:
        raise ValueError("no text in base32, base36 or base58btc")
    number = 0
    for letter in text[1:]:
        number = number * len(letters) + letters.index(letter)
    data = _bytes_of(text, number, letters)
    if to_multibase(text[0], data) != text:
        raise ValueError("another spelling than the canonical one")
    return data


def _bytes_of(text: str, number: int, letters: str) -> bytes:
    if text[0] == "b":
        whole, spare = divmod((len(text) - 1) * _BITS, 8)
        return (number >> spare).to_bytes(whole)
    zeros = len(text) - 1 - len(text[1:].lstrip(letters[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _digits(number: int, letters: str) -> str:
    found = []
    while number:
        number, digit = divmod(number, len(letters))
        found.append(letters[digit])
    return "".join(reversed(found))
