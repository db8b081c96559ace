"""Invitation codes: what a code contains, and that no other text is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.rules.invitations import MAX_USES, Invitation, new_invitation, parse_invitation

KEY, OTHER = b"k" * 32, b"o" * 32
NOW = 1_800_000_000


def made(uses=1, expires_at=NOW + 60):
    return new_invitation(KEY, uses, expires_at, lambda n: b"\x07" * n)


@given(uses=st.integers(1, MAX_USES), after_s=st.floats(0, 366 * 86_400))
def test_a_code_says_how_many_and_until_when(uses, after_s):
    found = parse_invitation(made(uses, NOW + after_s), [OTHER, KEY], NOW)
    assert found is not None and (found.uses, found.number) == (uses, "07" * 6)
    assert NOW + after_s < found.expires_at <= NOW + after_s + 3600


def test_case_hyphens_and_spaces_do_not_matter():
    code = made()
    assert len(code) == 39 and code.count("-") == 7
    for typed in (code.lower(), code.replace("-", ""), f" {code.replace('-', ' ')} "):
        assert parse_invitation(typed, [KEY], NOW) == parse_invitation(code, [KEY], NOW) is not None


def test_a_code_ends_with_its_hour_and_is_of_its_service():
    found = parse_invitation(made(), [KEY], NOW)
    assert isinstance(found, Invitation)
    assert parse_invitation(made(), [KEY], found.expires_at - 1) == found
    assert parse_invitation(made(), [KEY], found.expires_at) is parse_invitation(made(), [OTHER], NOW) is None


@pytest.mark.parametrize("place", range(39))
def test_no_changed_code_is_accepted(place):
    code = made()
    changed = code[:place] + ("B" if code[place] == "A" else "A") + code[place + 1 :]
    if code[place] != "-":
        assert parse_invitation(changed, [KEY], NOW) is None


@pytest.mark.parametrize("text", ["", "A", "AAAA", "1" * 32, "\u00e4" * 32, "A" * 100_000, "=" * 32])
def test_any_other_text_is_no_code(text):
    assert parse_invitation(text, [KEY], NOW) is None
