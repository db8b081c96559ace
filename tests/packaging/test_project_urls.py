"""The addresses in a package's metadata come from HOLDFAST_PROJECT_URL; `test_packages.py` builds packages with it."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from tests.support.clean_tree import PROJECT_URL, ROOT

HOOK = runpy.run_path(str(ROOT / "tools/hatch_metadata.py"))


def updated(url: str | None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the hook adds to the metadata."""
    monkeypatch.delenv(HOOK["VARIABLE"], raising=False)
    if url is not None:
        monkeypatch.setenv(HOOK["VARIABLE"], url)
    metadata: dict[str, Any] = {}
    HOOK["ProjectUrls"](str(ROOT), {}).update(metadata)
    return metadata


@pytest.mark.parametrize("url", [PROJECT_URL, PROJECT_URL + "/"])
def test_the_labels_are_those_that_package_indexes_know(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert updated(url, monkeypatch)["urls"] == {
        "Repository": PROJECT_URL,
        "Documentation": PROJECT_URL + "/tree/main/docs",
        "Changelog": PROJECT_URL + "/blob/main/CHANGELOG.md",
        "Issues": PROJECT_URL + "/issues",
    }


@pytest.mark.parametrize("url", [None, ""])
def test_without_an_address_there_are_none(url: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert updated(url, monkeypatch) == {}


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "git@example.org:a/b.git", "https://me:secret@example.org/a", "https://", "https://a/b?c"],
)
def test_any_other_address_ends_the_build(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="an address such as") as refused:
        updated(url, monkeypatch)
    assert "secret" not in str(refused.value)
