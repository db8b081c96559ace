"""A package states the addresses in HOLDFAST_PROJECT_URL, and the licences of what is compiled in (THIRD_PARTY.txt)."""

import json
import re
import runpy
import tomllib

import pytest
from tests.support.clean_tree import PROJECT_URL, ROOT

from holdfast.world.deployment import ENTRY_POINT_V09_CODE

HOOK = runpy.run_path(str(ROOT / "tools/hatch_metadata.py"))


def updated(url, monkeypatch):
    monkeypatch.delenv(HOOK["VARIABLE"], raising=False)
    if url is not None:
        monkeypatch.setenv(HOOK["VARIABLE"], url)
    metadata = {}
    HOOK["ProjectUrls"](str(ROOT), {}).update(metadata)
    return metadata


LABELS = {
    "Repository": PROJECT_URL,
    "Documentation": PROJECT_URL + "/tree/main/docs",
    "Changelog": PROJECT_URL + "/blob/main/CHANGELOG.md",
    "Issues": PROJECT_URL + "/issues",
}


@pytest.mark.parametrize(
    ("url", "made"),
    [(PROJECT_URL, {"urls": LABELS}), (PROJECT_URL + "/", {"urls": LABELS}), (None, {}), ("", {})],
)
def test_the_labels_are_those_that_package_indexes_know_and_without_an_address_there_are_none(url, made, monkeypatch):
    assert updated(url, monkeypatch) == made


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "git@example.org:a/b.git", "https://me:secret@example.org/a", "https://", "https://a/b?c"],
)
def test_any_other_address_ends_the_build(url, monkeypatch):
    with pytest.raises(ValueError, match="an address such as") as refused:
        updated(url, monkeypatch)
    assert "secret" not in str(refused.value)


TEXT = (ROOT / "src/holdfast/THIRD_PARTY.txt").read_text("utf-8")
NAMED = {
    name: (version, licence) for name, version, licence in re.findall(r"^=+\n(\S+) (\S+): (\S+)$", TEXT, re.MULTILINE)
}


def test_the_versions_are_those_of_the_build():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    npm = json.loads((ROOT / "contracts/package.json").read_text("utf-8"))["dependencies"]
    [zig] = [one.partition("==")[2] for one in build if one.startswith("ziglang")]
    [unicode] = re.findall(r"Unicode ([\d.]+):", (ROOT / "src/holdfast/rules/unicode_tables.py").read_text("utf-8"))
    assert {name: version for name, (version, _) in NAMED.items()} == {
        "zig": zig,
        "zig-wasi-libc": zig,
        "zig-wasi-cloudlibc": zig,
        "openzeppelin-contracts": npm["@openzeppelin/contracts"],
        "unicode-data": unicode,
        "entry-point": "0.9.0",
    }


def test_each_has_its_licence():
    sections = dict(zip(NAMED, re.split(r"^=+\n", TEXT, flags=re.MULTILINE)[1:], strict=True))
    begins = {
        "MIT": "Permission is hereby granted, free of charge",
        "BSD-2-Clause": "Redistributions in binary form must",
        "Unicode-3.0": "UNICODE LICENSE V3",
        "GPL-3.0-only": "world/entry_point_v09.COPYING",
    }
    assert all(begins[licence] in sections[name] for name, (_, licence) in NAMED.items())


def test_the_entry_points_code_says_its_licence_and_has_the_text():
    stated = json.loads(ENTRY_POINT_V09_CODE.read_text("utf-8"))["licence"]
    assert stated.startswith("GPL-3.0-only")
    text = ENTRY_POINT_V09_CODE.with_suffix(".COPYING").read_text("utf-8")
    assert "GNU GENERAL PUBLIC LICENSE" in text and "END OF TERMS AND CONDITIONS" in text
