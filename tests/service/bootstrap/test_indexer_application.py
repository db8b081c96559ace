"""What a start says about HOLDFAST_INDEXER_APP: which part of the setting is wrong, and nothing that the module says."""

import sys
from types import SimpleNamespace

import pytest

from holdfast.service.bootstrap.upstreams import configured_indexer
from holdfast.settings.rows import SettingError

SECRET = "hunter2"
MODULE = "operators_indexer"
TEXTS = {
    "fails": f"raise RuntimeError('{SECRET}')",
    "imports": f"from json import {SECRET}",
    "attribute": "import json\njson.nothing",
    "syntax": "app =",
    "depends": "import no_such_package",
    "empty": "",
    "whole": "class Here:\n    async def app(scope, receive, send): ...",
}


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Return a function that makes the indexer of a setting."""
    for name, text in TEXTS.items():
        (tmp_path / f"{MODULE}_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda app: configured_indexer(SimpleNamespace(indexer_app=app, indexer_url=None), lambda: None)
    for name in [name for name in sys.modules if name.startswith(MODULE)]:
        del sys.modules[name]


@pytest.mark.parametrize(("app", "why"), [
    ("no_such_module:app", "there is no module no_such_module"),
    (f"{MODULE}_empty.sub:app", f"there is no module {MODULE}_empty.sub"),
    (f"{MODULE}_depends:app", "there is no module no_such_package"),
    (f"{MODULE}_empty:app", f"{MODULE}_empty has no app"),
    (f"{MODULE}_whole:Here.nothing", f"{MODULE}_whole has no Here.nothing"),
    (f"{MODULE}_fails:app", rf"cannot be imported: `python -c 'import {MODULE}_fails'` says why"),
    (f"{MODULE}_imports:app", r"cannot be imported"),
    (f"{MODULE}_attribute:app", r"cannot be imported"),
    (f"{MODULE}_syntax:app", r"cannot be imported"),
])  # fmt: skip
def test_a_wrong_application_is_named_without_what_its_module_says(configured, app, why):
    with pytest.raises(SettingError, match=f"^HOLDFAST_INDEXER_APP: .*{why}") as caught:
        configured(app)
    assert SECRET not in str(caught.value)


def test_an_application_may_be_inside_an_object(configured):
    assert configured(f"{MODULE}_whole:Here.app") is not None
