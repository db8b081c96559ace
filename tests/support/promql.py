"""Extracts names and labels from PromQL expressions of the kinds that the alert rules and the dashboard use."""

from __future__ import annotations

import re

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]|\boffset\s+\w+")
_SELECTED = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_NAME = re.compile(r"(?<![\w:$.])[a-zA-Z_:][\w:]*(?!\s*\()\b")
_WORDS = {"and", "or", "unless", "bool", "by", "without", "on", "ignoring", "offset", "inf", "nan"}
_CALLED = re.compile(r"[a-zA-Z_]\w*(?=\s*\()")


def metrics_in(expression: str) -> set[str]:
    """Return the names of all metrics that an expression reads."""
    text = _RANGE.sub("", _GROUPING.sub("", _STRING.sub('""', expression)))
    text = re.sub(r"\{[^}]*\}", "", text)
    text = _CALLED.sub("", text)
    return {name for name in _NAME.findall(text) if name.lower() not in _WORDS}


def labels_in(expression: str) -> set[tuple[str, str]]:
    """For each selector in the expression, return a (metric, label) pair for each of its labels."""
    text = _STRING.sub('""', expression)
    return {
        (name, label)
        for name, inside in _SELECTED.findall(text)
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside)
    }


def groupings_in(expression: str) -> set[str]:
    """Return the labels by which the expression groups."""
    return {label.strip() for inside in _GROUPING.findall(expression) for label in inside.split(",") if label.strip()}
