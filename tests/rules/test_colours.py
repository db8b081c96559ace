"""WCAG 2.2's contrast ratio, tested with the standard's examples, and the shades that are derived from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.rules.colours import BLACK, WHITE, Colour, contrast, lightened_for, parse_colour, text_on

DARK = Colour(0x1B, 0x24, 0x30)
colours = st.builds(Colour, *[st.integers(0, 255)] * 3)


def test_contrasts_that_are_known():
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == 1
    assert contrast(parse_colour("#767676"), WHITE) == pytest.approx(4.54, abs=0.01)  # the lightest readable grey
    assert contrast(parse_colour("#777777"), WHITE) < 4.5


@given(colours)
def test_text_and_shades_are_always_readable(colour):
    assert contrast(text_on(colour), colour) >= 4.5
    assert contrast(lightened_for(DARK, colour), DARK) >= 4.5
    assert parse_colour(str(colour)) == colour


@pytest.mark.parametrize("text", ["", "#fff", "red", "#12345g", "1234567", "##12345", "#1234567"])
def test_other_texts_are_no_colours(text):
    with pytest.raises(ValueError, match="#rrggbb"):
        parse_colour(text)
