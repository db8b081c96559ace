"""UTS #39's skeletons and mixed-script detection: the standard's examples, and the rules for handles based on them."""

import pytest

from holdfast.rules import reserved_identifiers
from holdfast.rules.confusables import scripts_of, unicode_skeleton


@pytest.mark.parametrize(("one", "other"), [
    ("paypal", "\u0440\u0430\u0443\u0440\u0430l"),  # TR39 section 4: mixed-script confusable
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),  # TR39 section 4: whole-script confusable, Latin and Cyrillic
    ("top", "t\u043ep"),  # a Cyrillic letter in a Latin word
    ("so\u0337s", "s\u00f8s"),  # TR39 section 4: single-script confusable
    ("ljeto", "\u01c9eto"),  # TR39 section 4: a digraph that is one character
    ("rn", "m"),
    ("\u00e9", "e\u0301"),  # canonically equivalent (NFD)
    ("\u03c1\u03b1\u03c1\u03b1", "\u0440\u0430\u0440\u0430"),  # Greek and Cyrillic, neither of them ASCII
    ("ab", "a\u034fb"),  # a default-ignorable character in between
])  # fmt: skip
def test_confusable_texts_have_one_skeleton(one, other):
    assert one != other
    assert unicode_skeleton(one) == unicode_skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("paypal", "paypa1s"), ("bar", "baz"), ("\u00e9", "e"), ("\u4e00", "-")])
def test_other_texts_have_others(one, other):
    assert unicode_skeleton(one) != unicode_skeleton(other)


@pytest.mark.parametrize("text", ["paypal", "m", "\u0440\u0430\u0443", "\u01c9", "\u00fe", "\u0d10", "I1|l"])
def test_a_skeleton_is_its_own_skeleton(text):
    assert unicode_skeleton(unicode_skeleton(text)) == unicode_skeleton(text)


@pytest.mark.parametrize(
    ("character", "prototype"),
    [("\u00fe", "p"), ("\u0448", "w"), ("\u04cf", "l"), ("\u0192", "f"), ("\u0561", "w"), ("\u0582", "i")],
)
def test_rows_that_tables_before_unicode_16_lack(character, prototype):
    assert unicode_skeleton(character) == prototype


def test_scripts():
    assert scripts_of("a1-") == {"LATIN"}
    assert scripts_of("p\u0430ypal") == {"LATIN", "CYRILLIC"}
    assert scripts_of("\u3042\u4e00") == {"HIRAGANA", "HAN"}
    assert scripts_of("\u0301-\U0001f600\uffff") == frozenset()  # Inherited, Common, none


def test_handles_in_ascii_are_compared_as_the_whole_table_says():
    """A short table for ASCII makes it unnecessary to load the whole table."""
    for character in map(chr, range(0x21, 0x7F)):
        alone, beside = reserved_identifiers.skeleton(character), reserved_identifiers.skeleton(character + "\u3042")
        assert character.isupper() or beside == alone + "\u3042"
    assert reserved_identifiers.skeleton("\u0430dmin") == reserved_identifiers.skeleton("admin") == "adrnin"
