"""Tests of the linearizability check: it accepts exactly the histories that a single store could have produced."""

from math import inf

import pytest
from tests.support.linearizability import UNKNOWN, Operation, explained


def op(call, back, name, value, result):
    return Operation(call, back, name, value, result)


UNANSWERED = op(0, inf, "claim", "a", UNKNOWN)
SENT, RIGHT, WRONG = (op(0, 1, "send", "1", "sent"), ("check", "1", "verified"), ("check", "2", "incorrect"))
WON = op(0, 1, "claim", "a", "won")
EXPLAINED = {
    "an empty history": ("session", []),
    "a claim, then its owner": ("session", [WON, op(2, 3, "read", None, "a")]),
    "a read during the claim, either way": (
        "session", [op(0, 9, "claim", "a", "won"), op(1, 2, "read", None, None), op(3, 4, "read", None, "a")],
    ),
    "an unanswered claim that took effect": (
        "credential", [UNANSWERED, op(5, 6, "claim", "b", "lost"), op(7, 8, "read", None, "a")],
    ),
    "an unanswered claim that did not": (
        "credential", [UNANSWERED, op(5, 6, "claim", "b", "won"), op(7, 8, "read", None, "b")],
    ),
    "an unanswered claim that took effect late": (
        "session", [UNANSWERED, op(5, 6, "read", None, None), op(7, 8, "read", None, "a")],
    ),
    "three from an address": (
        "address", [*(op(n, n + 0.5, "open", str(n), "opened") for n in range(3)), op(4, 5, "open", "x", "refused")],
    ),
    "a code, a wrong guess, the right one, once": (
        "code", [SENT, op(2, 3, *WRONG), op(4, 5, *RIGHT), op(6, 7, "check", "1", "refused")],
    ),
}  # fmt: skip
UNEXPLAINED = {
    "two owners": ("session", [op(0, 9, "claim", "a", "won"), op(1, 8, "claim", "b", "won")]),
    "a write that is gone": ("session", [WON, op(2, 3, "read", None, None)]),
    "an owner that nothing wrote": ("credential", [op(0, 1, "read", None, "a")]),
    "an owner before the claim": ("session", [op(0, 1, "read", None, "a"), op(2, 3, "claim", "a", "won")]),
    "an owner that goes again": ("session", [UNANSWERED, op(1, 2, "read", None, "a"), op(3, 4, "read", None, None)]),
    "a refusal without an owner": ("session", [op(0, 1, "claim", "a", "lost")]),
    "four from an address": ("address", [op(n, n + 9, "open", str(n), "opened") for n in range(4)]),
    "a refusal below the limit": ("address", [op(0, 1, "open", "a", "opened"), op(2, 3, "open", "b", "refused")]),
    "a code that is used twice": ("code", [SENT, op(2, 9, *RIGHT), op(3, 8, *RIGHT)]),
    "a sixth attempt": ("code", [SENT, *(op(2, 9, *WRONG) for _ in range(6))]),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPLAINED)
def test_what_one_store_can_answer_is_explained(case):
    assert explained(*EXPLAINED[case])


@pytest.mark.parametrize("case", UNEXPLAINED)
def test_what_one_store_cannot_answer_is_not(case):
    assert not explained(*UNEXPLAINED[case])
