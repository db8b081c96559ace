"""The addresses in a package's metadata come from HOLDFAST_PROJECT_URL; `test_packages.py` builds packages with it."""

import runpy

import pytest
from tests.support.clean_tree import PROJECT_URL, ROOT

HOOK = runpy.run_path(str(ROOT / "tools/hatch_metadata.py"))


def updated(url, monkeypatch):
    monkeypatch.delenv(HOOK["VARIABLE"], raising=False)
    if url is not None:
        monkeypatch.setenv(HOOK["VARIABLE"], url)
    metadata = {}
    HOOK["ProjectUrls"](str(ROOT), {}).update(metadata)
    return metadata


@pytest.mark.parametrize("url", [PROJECT_URL, PROJECT_URL + "/"])
def test_the_labels_are_those_that_package_indexes_know(url, monkeypatch):
    assert updated(url, monkeypatch)["urls"] == {
        "Repository": PROJECT_URL,
        "Documentation": PROJECT_URL + "/tree/main/docs",
        "Changelog": PROJECT_URL + "/blob/main/CHANGELOG.md",
        "Issues": PROJECT_URL + "/issues",
    }


@pytest.mark.parametrize("url", [None, ""])
def test_without_an_address_there_are_none(url, monkeypatch):
    assert updated(url, monkeypatch) == {}


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "git@example.org:a/b.git", "https://me:secret@example.org/a", "https://", "https://a/b?c"],
)
def test_any_other_address_ends_the_build(url, monkeypatch):
    with pytest.raises(ValueError, match="an address such as") as refused:
        updated(url, monkeypatch)
    assert "secret" not in str(refused.value)
