"""The pages' colours: contrast as WCAG 2.2 defines it, and shades derived from the operator's colour."""

from __future__ import annotations

from typing import NamedTuple

TEXT_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
_STEPS = 100
_LINEAR_BELOW = 0.04045
_WEIGHTS = (0.2126, 0.7152, 0.0722)


class Colour(NamedTuple):
    """An opaque sRGB colour. Each component is from 0 to 255."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


WHITE, BLACK = Colour(255, 255, 255), Colour(0, 0, 0)


def parse_colour(text: str) -> Colour:
    """Return the colour that a text `#rrggbb` denotes. Raises ValueError."""
    digits = text.removeprefix("#")
    if (
        len(text) != len("#rrggbb")
        or len(digits) != len("rrggbb")
        or not set(digits.lower()) <= set("0123456789abcdef")
    ):
        raise ValueError("a colour as #rrggbb is needed")
    return Colour(*bytes.fromhex(digits))


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def text_on(background: Colour) -> Colour:
    """Return white or black, whichever has more contrast with the background."""
    return max(WHITE, BLACK, key=lambda text: contrast(text, background))


def lightened_for(background: Colour, colour: Colour) -> Colour:
    """Return the colour, mixed with just enough white for text in that shade to have sufficient contrast."""
    shades = (_mixed(colour, WHITE, step / _STEPS) for step in range(_STEPS + 1))
    return next((shade for shade in shades if contrast(shade, background) >= TEXT_CONTRAST), WHITE)


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    return Colour(*(round(a + (b - a) * share) for a, b in zip(one, other, strict=True)))


def _luminance(colour: Colour) -> float:
    parts = (part / 255 for part in colour)
    linear = (part / 12.92 if part <= _LINEAR_BELOW else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip(_WEIGHTS, linear, strict=True))
