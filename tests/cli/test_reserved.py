"""`holdfast reserved`: the operator's own files in addition to the built-in list."""

import pytest
from tests.support.small_disk import fill

from holdfast.cli.exits import Exit


@pytest.fixture
def files(tmp_path):
    return {"reserved_file": str(tmp_path / "mine.txt"), "reserved_allow_file": str(tmp_path / "allowed.txt")}


def test_the_built_in_list_is_printed(holdfast):
    text, value = holdfast("reserved", "list"), holdfast("reserved", "list", "--json")
    assert text.code == value.code == Exit.OK
    assert text.out.split() == value.value == sorted(value.value)
    assert "postmaster" in value.value


def test_test_says_why_and_tells_by_its_exit_code(holdfast):
    on_the_list = holdfast("reserved", "test", "Postmaster")
    assert (on_the_list.code, on_the_list.out) == (Exit.OK, "postmaster: reserved (on the list)\n")
    looks_like = holdfast("reserved", "test", "p0stmaster")
    assert (looks_like.code, looks_like.out) == (Exit.OK, "p0stmaster: reserved (looks like a reserved name)\n")
    reads_as = holdfast("reserved", "test", "ann@example.com")
    assert reads_as.out == "ann@example.com: reserved (reads as an address, a number or a website)\n"
    free = holdfast("reserved", "test", "ann", "--json")
    assert (free.code, free.value) == (Exit.FAILED, {"name": "ann", "reserved": False})


def test_add_and_remove_change_the_files_and_nothing_else(holdfast, tmp_path, files):
    mine, allowed = tmp_path / "mine.txt", tmp_path / "allowed.txt"
    mine.write_text("# ours\nalpha # since 2024\n")
    allowed.touch()
    mine.chmod(0o640)
    assert holdfast("reserved", "add", "Beta", **files).out == "beta is reserved\n"
    assert holdfast("reserved", "add", "beta", "--json", **files).value == {"name": "beta", "reserved": True}
    assert mine.read_text() == "# ours\nalpha # since 2024\nbeta\n"
    assert mine.stat().st_mode & 0o777 == 0o640
    assert holdfast("reserved", "remove", "alpha", **files).out == "alpha is free to choose\n"
    assert mine.read_text() == "# ours\nbeta\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["allowed.txt", "mine.txt"]


def test_a_built_in_name_is_freed_by_the_allow_file_and_reserved_again(holdfast, files):
    made = holdfast("reserved", "remove", "postmaster", "--json", **files)
    assert (made.code, made.value) == (Exit.OK, {"name": "postmaster", "reserved": False})
    assert holdfast("reserved", "add", "ours", **files).code == Exit.OK  # creates the first file
    assert holdfast("reserved", "test", "postmaster", **files).code == Exit.FAILED
    assert holdfast("reserved", "add", "postmaster", **files).code == Exit.OK
    assert holdfast("reserved", "test", "postmaster", **files).code == Exit.OK


def test_without_a_file_to_write_the_setting_is_named(holdfast):
    added, removed = holdfast("reserved", "add", "ann", "--json"), holdfast("reserved", "remove", "postmaster")
    assert added.code == removed.code == Exit.CONFIGURATION
    assert added.error["error"].startswith("HOLDFAST_RESERVED_FILE is not set")
    assert "HOLDFAST_RESERVED_ALLOW_FILE is not set" in removed.err


@pytest.mark.parametrize("word", ["list", "test", "add", "remove"])
@pytest.mark.parametrize("fault", ["no such folder", "a folder", "no handle in it", "not text"])
def test_a_file_that_cannot_be_used_exits_3_in_one_line(holdfast, tmp_path, word, fault):
    file = tmp_path / "x" / "mine.txt" if fault == "no such folder" else tmp_path / "mine.txt"
    if fault == "a folder":
        file.mkdir()
    elif fault != "no such folder":
        file.write_bytes(b"not a handle\n" if fault == "no handle in it" else b"\xff\xfe\n")
    answer = holdfast("reserved", word, *([] if word == "list" else ["ann"]), reserved_file=str(file))
    # `add` works although the file contains an invalid line; if the file is missing, `remove` reports nothing to
    # remove.
    harmless = {("add", "no handle in it"), ("remove", "no such folder")}
    assert answer.code == (Exit.OK if (word, fault) in harmless else Exit.CONFIGURATION)
    assert len(answer.err.splitlines()) == (answer.code != Exit.OK)


@pytest.mark.parametrize(
    ("word", "name"), [("test", ""), ("add", "a b"), ("remove", "x" * 65), ("test", "a\u202eb"), ("add", "-" * 400)]
)
def test_what_can_be_no_handle_is_a_mistake_of_usage(holdfast, word, name, files):
    assert holdfast("reserved", word, "--", name, **files).code == Exit.USAGE


def test_a_full_disk_is_named_and_leaves_the_list_as_it_was(holdfast, small_disk):
    if small_disk is None:
        pytest.skip("this user may not mount a disk")
    mine = small_disk / "mine.txt"
    mine.write_text("alpha\n")
    filler = fill(small_disk)
    answer = holdfast("reserved", "add", "beta", "--json", reserved_file=str(mine))
    assert answer.code == Exit.UNAVAILABLE
    assert answer.error["error"] == f"{mine} cannot be written: the disk is full; make room, and call this again"
    assert mine.read_text() == "alpha\n" and {*small_disk.iterdir()} == {mine, filler}
