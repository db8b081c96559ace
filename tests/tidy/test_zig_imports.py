"""The import rules for the enclave's files, applied to test trees that break one rule each."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import zig_imports  # noqa: E402


def tree(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def importing(*targets):
    return "".join(f'pub const import_{i} = @import("{target}");\n' for i, target in enumerate(targets))


def test_every_room_of_the_table_has_files():
    assert {zig_imports.room(file) for file in zig_imports.graph(zig_imports.SOURCES)} == zig_imports.LEVELS.keys()


def test_lower_rooms_and_the_own_room_may_be_imported(tmp_path):
    files = {
        "enclave.zig": importing("std", "vault/session.zig"),
        "vault/session.zig": importing("rows.zig", "../platform/errors.zig"),
        "vault/rows.zig": importing("../codec/cid.zig"),
        "codec/cid.zig": importing("../platform/errors.zig"),
        "platform/errors.zig": "",
    }
    assert zig_imports.violations(zig_imports.graph(tree(tmp_path, files))) == []


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {"codec/cid.zig": importing("../vault/rows.zig"), "vault/rows.zig": ""},
            "codec/cid.zig imports vault/rows.zig, which is not lower",
        ),
        (
            {"codec/cid.zig": importing("../crypto/aead.zig"), "crypto/aead.zig": ""},
            "codec/cid.zig imports crypto/aead.zig, which is not lower",
        ),
        (
            {"vault/rows.zig": importing("../enclave.zig"), "enclave.zig": ""},
            "vault/rows.zig imports enclave.zig, which is not lower",
        ),
        (
            {"codec/a.zig": importing("b.zig"), "codec/b.zig": importing("a.zig")},
            "a circle: codec/a.zig <- codec/b.zig <- codec/a.zig",
        ),
        ({"codec/a.zig": importing("a.zig")}, "a circle: codec/a.zig <- codec/a.zig"),
        ({"cellar/a.zig": ""}, "cellar/ has no layer: add it to LAYERS in tools/zig_imports.py"),
    ],
)
def test_what_breaks_a_rule_is_named(tmp_path, files, says):
    assert zig_imports.violations(zig_imports.graph(tree(tmp_path, files))) == [says]


def test_an_import_without_use_is_named(tmp_path):
    text = 'const std = @import("std");\nconst cid = @import("cid.zig");\n// std and "std" are no use of it\nconst n = cid.n;\n'
    assert zig_imports.unused(tree(tmp_path, {"codec/a.zig": text})) == ["codec/a.zig imports std and does not use it"]


def test_a_long_line_is_named(tmp_path):
    allowed, long, data = "x" * 120, "y" * 121, "    \\\\" + "z" * 121
    tree(tmp_path, {"codec/a.zig": f"{allowed}\n{long}\n{data}\n"})
    assert zig_imports.long_lines(tmp_path) == ["codec/a.zig:2 has more than 120 characters"]
