"""Which coordinates are a public key of P-256 (NIST SP 800-186, section 3.2.1.3): one equation, no secret involved."""

from __future__ import annotations

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


def on_curve(x: int, y: int) -> bool:
    """Whether (x, y) is a point of the curve in reduced coordinates; no key has others."""
    return x < _P and y < _P and (y * y - (x * x * x - 3 * x + _B)) % _P == 0
