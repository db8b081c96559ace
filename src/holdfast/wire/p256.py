"""The constants of the curve P-256 (NIST SP 800-186, section 3.2.1.3), and checks of public keys and signatures."""

from __future__ import annotations

from typing import Final

PRIME: Final = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B: Final = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B

Point = tuple[int, int]
_BASE: Final[Point] = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def on_curve(x: int, y: int) -> bool:
    """Return whether (x, y) is a valid public key: x and y are less than p, and the point is on the curve."""
    return x < PRIME and y < PRIME and (y * y - (x * x * x - 3 * x + _B)) % PRIME == 0


def low_s(s: int) -> int:
    """Return the lower of an ECDSA signature's two valid values of s.

    Contracts and tokens accept only the lower value.
    """
    return min(s, ORDER - s)


def keys_of(r: int, s: int, digest: bytes) -> list[Point]:
    """Return the public keys that can have made an ECDSA signature: two, or none (SEC 1, section 4.1.6).

    Args:
        r: First half of the signature.
        s: Second half, low or high.
        digest: SHA-256 of what was signed.
    """
    square = (r**3 - 3 * r + _B) % PRIME
    y = pow(square, (PRIME + 1) // 4, PRIME)
    if not (0 < r < ORDER and 0 < s < ORDER) or y * y % PRIME != square:
        return []
    inverse = pow(r, -1, ORDER)
    of_base = _times(-int.from_bytes(digest) * inverse % ORDER, _BASE)
    found = (_sum(_times(s * inverse % ORDER, (r, it)), of_base) for it in (y, PRIME - y))
    return [point for point in found if point]


def _times(factor: int, point: Point | None) -> Point | None:
    made = None
    while factor:
        made = _sum(made, point) if factor & 1 else made
        point, factor = _sum(point, point), factor >> 1
    return made


def _sum(one: Point | None, other: Point | None) -> Point | None:
    """Return the sum of two points; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    if one[0] == other[0] and one[1] != other[1]:
        return None
    rise, run = (3 * one[0] ** 2 - 3, 2 * one[1]) if one == other else (other[1] - one[1], other[0] - one[0])
    slope = rise * pow(run, -1, PRIME) % PRIME
    x = (slope * slope - one[0] - other[0]) % PRIME
    return x, (slope * (one[0] - x) - one[1]) % PRIME
