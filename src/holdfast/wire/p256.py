"""The constants of the curve P-256 (NIST SP 800-186, section 3.2.1.3), and checks of public keys and signatures."""

from __future__ import annotations

from typing import Final

PRIME: Final = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B: Final = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


def on_curve(x: int, y: int) -> bool:
    """Return whether (x, y) is a valid public key: x and y are less than p, and the point is on the curve."""
    return x < PRIME and y < PRIME and (y * y - (x * x * x - 3 * x + _B)) % PRIME == 0


def low_s(s: int) -> int:
    """Return the lower of an ECDSA signature's two valid values of s.

    Contracts and tokens accept only the lower value.
    """
    return min(s, ORDER - s)
