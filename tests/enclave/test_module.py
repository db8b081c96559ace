"""The built module has only the expected imports and exports, a limited size, and the recorded hash."""

import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
import wasmtime
from tests.support.programs import program

from holdfast.enclave import Enclave, bundled, bundled_sha256
from holdfast.enclave.instance import MAX_MEMORY
from holdfast.enclave.module import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def builder():
    return program("enclave/build.py")


def test_it_imports_randomness_and_the_clock_and_nothing_else():
    module = load()
    assert sorted((each.module, each.name) for each in module.imports) == [
        ("env", "host_now_ms"),
        ("env", "host_random"),
    ]
    exports = {each.name for each in module.exports}
    assert exports == {"memory", "_initialize", "enclave_abi", "enclave_alloc", "enclave_free", "enclave_call"}
    memory = next(each.type for each in module.exports if each.name == "memory")
    assert isinstance(memory, wasmtime.MemoryType)
    assert memory.limits.max == MAX_MEMORY // 65_536, "a bound that hosts need not set"


def test_its_size():
    content = bundled().read_bytes()
    assert len(content) <= 1_060_000, "docs/decisions/0301"
    assert len(gzip.compress(content, 9, mtime=0)) <= 430_000


def test_it_is_the_recorded_one():
    recorded = (ROOT / "enclave" / "enclave.sha256").read_text().split()[0]
    assert bundled_sha256() == recorded, "rebuild, review, then: python enclave/build.py --record"
    assert hashlib.sha256(bundled().read_bytes()).hexdigest() == recorded


def test_a_second_build_compiles_nothing(builder, monkeypatch):
    builder.build()
    ran = []
    monkeypatch.setattr(subprocess, "run", lambda *of, **_: ran.append(of))
    assert builder.build() == bundled_sha256()
    assert ran == []


@pytest.mark.skipif("HOLDFAST_REBUILD" not in os.environ, reason="compiles for a minute; set HOLDFAST_REBUILD=1")
@pytest.mark.timeout(900)
def test_the_build_depends_on_no_directory_and_no_program(builder, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    digest = builder.build(tmp_path / "enclave.wasm", tmp_path / "some other place")
    assert digest == bundled_sha256()


def test_a_changed_archive_is_not_compiled(builder, tmp_path, monkeypatch):
    def forged(source, directory):
        archive = directory / source.archive
        archive.write_bytes(b"something else")
        return archive

    monkeypatch.setattr(sys.modules[builder.unpack.__module__], "download", forged)
    with pytest.raises(builder.BuildError, match="not the pinned archive"):
        builder.build(tmp_path / "enclave.wasm", tmp_path / "cache")
    assert not (tmp_path / "enclave.wasm").exists()


def test_a_false_archive_in_an_index_runs_nothing(builder, tmp_path, monkeypatch):
    """If a package index serves a different archive under a pinned name, the archive's setup code must not run."""
    sources = sys.modules[builder.unpack.__module__]
    ran, index = tmp_path / "ran", tmp_path / "index"
    index.mkdir()
    _source_distribution(index / sources.SQLITE.archive, f"open({str(ran)!r}, 'w').close()\n" + SET_UP)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    (tmp_path / "cache").mkdir()
    with pytest.raises(builder.BuildError, match="not the pinned archive; nothing of it was run"):
        builder.unpack(sources.SQLITE, tmp_path / "cache", tmp_path, print)
    assert not ran.exists()
    assert not any((tmp_path / "cache").iterdir())
    # With the right hash, pip runs the archive's setup code, so that the test can fail.
    digest = hashlib.sha256((index / sources.SQLITE.archive).read_bytes()).hexdigest()
    (tmp_path / "into").mkdir()
    sources.download(replace(sources.SQLITE, sha256=digest), tmp_path / "into")
    assert ran.exists()


SET_UP = "from setuptools import setup\nsetup(name='sqlcipher3', version='0.6.4')\n"


def _source_distribution(archive, set_up):
    folder = archive.name.removesuffix(".tar.gz")
    files = {"setup.py": set_up, "PKG-INFO": "Metadata-Version: 2.1\nName: sqlcipher3\nVersion: 0.6.4\n"}
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))


def test_a_module_that_is_not_the_recorded_one_is_an_error(builder, tmp_path, monkeypatch):
    record, output = tmp_path / "enclave.sha256", tmp_path / "enclave.wasm"
    record.write_text("00" * 32 + "  enclave.wasm\n")
    monkeypatch.setattr(builder, "RECORDED", record)
    monkeypatch.delenv(builder.UNRECORDED, raising=False)
    with pytest.raises(builder.BuildError, match=r"build.py --record; to try it, HOLDFAST_ENCLAVE_UNRECORDED=1"):
        builder.build(output)
    assert not output.exists()
    monkeypatch.setenv(builder.UNRECORDED, "1")
    assert builder.build(output) == bundled_sha256() and output.exists()
    monkeypatch.delenv(builder.UNRECORDED)
    monkeypatch.setattr(sys, "argv", ["build.py", "--record"])
    assert builder.build(output) == record.read_text().split()[0] == bundled_sha256()


def test_a_damaged_or_unfinished_file_of_the_cache_is_built_anew(builder, tmp_path):
    kept = sys.modules[builder.holds.__module__]
    made, file = tmp_path / "made", tmp_path / "module.wasm"
    made.write_bytes(b"whole")
    assert not kept.holds(file)
    kept.keep(made, file)
    assert kept.holds(file) and not made.exists()
    file.write_bytes(b"whol")
    assert not kept.holds(file)
    made.write_bytes(b"whole")
    kept.keep(made, file)
    (tmp_path / "module.wasm.sha256").unlink()  # as if stopped between writing the file and its digest
    assert not kept.holds(file)


def test_what_cannot_be_written_is_said_in_one_line(builder, tmp_path):
    (tmp_path / "cache").write_text("a file where a directory should be")
    with pytest.raises(builder.BuildError, match="HOLDFAST_CACHE_DIR"):
        builder.build(tmp_path / "enclave.wasm", tmp_path / "cache")


def test_every_function_and_error_is_documented():
    text = (ROOT / "enclave" / "ABI.md").read_text()
    with Enclave() as enclave:
        functions = enclave.call("version")["functions"]
    assert [name for name in functions if f"| `{name}` |" not in text] == []
    table = (ROOT / "enclave" / "src" / "platform" / "errors.zig").read_text()
    coded = re.findall(r'\.code = "([a-z_]+)",\s*\.message = "([^"]+)"', table)
    documented = re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \|$", text.split("## Errors")[1], re.MULTILINE)
    assert len(coded) > 40
    assert documented == coded


def test_every_error_can_happen():
    sources = [file.read_text() for file in (ROOT / "enclave" / "src").rglob("*.zig") if file.name != "errors.zig"]
    names = re.findall(r"\.err = error\.(\w+)", (ROOT / "enclave" / "src" / "platform" / "errors.zig").read_text())
    assert [name for name in names if not any(f"error.{name}" in source for source in sources)] == []
