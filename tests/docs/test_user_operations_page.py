"""The calls that docs/user-operations.md writes have the names and parameters of `holdfast.chain`."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import holdfast.chain

PAGE = (Path(__file__).parents[2] / "docs" / "user-operations.md").read_text("utf-8")


def written():
    """Return the calls between backticks, also those in the arguments of others; not methods or declarations."""
    texts = [text.replace("…", "...") for text in re.findall(r"`([^`\n]+\([^`\n]*\))`", PAGE) if " -> " not in text]
    trees = [ast.parse(text.removeprefix("await "), mode="eval") for text in texts]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name)]


def test_each_call_on_the_page_can_be_made():
    names = {}
    for module in pkgutil.walk_packages(holdfast.chain.__path__, "holdfast.chain."):
        names |= vars(importlib.import_module(module.name))
    calls = written()
    assert len(calls) >= 9
    for call in calls:
        given = {keyword.arg: None for keyword in call.keywords}
        inspect.signature(names[call.func.id]).bind(*call.args, **given)
