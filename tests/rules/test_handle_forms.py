"""Handles that read as another kind of identifier or hide marks (rules/handle_forms.py, rules/confusables.py)."""

import json
import sys
import unicodedata
from pathlib import Path

import pytest

from holdfast.rules import reserved_identifiers
from holdfast.rules.confusables import MARKS_OF_ALPHABETS, hides_marks, scripts_of
from holdfast.rules.handle_forms import form_of
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "service" / "handles.json"
FILE = json.loads(VECTORS.read_text("utf-8"))
CASES = FILE["cases"]
NO_NAMES = reserved_identifiers.reserved_list(["admin"])


@pytest.mark.parametrize("case", CASES, ids=lambda it: ascii(it["given"]))
def test_vectors(case):
    key = parse_identifier(str(case["given"]), Channel.HANDLE).key
    assert (key, form_of(key), NO_NAMES.holds(key)) == (case["key"], case["form"], case["reserved"])


@pytest.mark.parametrize("given", FILE["invalid"], ids=ascii)
def test_what_is_not_a_handle(given):
    with pytest.raises(Refused):
        parse_identifier(given, Channel.HANDLE)


def test_an_operator_can_allow_such_a_handle():
    assert not reserved_identifiers.reserved_list([], allowed=["holdfast.com"]).holds("holdfast.com")


def test_the_marks_of_the_alphabets_are_those_that_compose():
    composed = set()
    for character in map(chr, range(sys.maxunicode + 1)):
        decomposed = unicodedata.normalize("NFD", character)
        if len(decomposed) > 1 and scripts_of(decomposed[0]) <= {"LATIN", "GREEK", "CYRILLIC"}:
            composed |= {it for it in decomposed[1:] if unicodedata.category(it) == "Mn"}
    assert composed - {"\u0338"} == MARKS_OF_ALPHABETS, "all but the stroke, which covers what is below it"


@pytest.mark.parametrize("letter", "ij\u0456\u0458\u012f\u1ecb\u0268\u0131\u0237")
def test_one_more_dot_on_a_dotted_letter_goes_unseen(letter):
    assert hides_marks(letter + "\u0307") and not hides_marks(letter)
    assert not hides_marks("e\u0307") and not hides_marks("\u017c\u0117\u010b")
