"""`holdfast reserved`: the operator's own files in addition to the built-in list."""

import pytest
from tests.support.small_disk import fill

from holdfast.cli.exits import Exit


@pytest.fixture
def files(tmp_path):
    return {"reserved_file": str(tmp_path / "mine.txt"), "reserved_allow_file": str(tmp_path / "allowed.txt")}


def test_the_built_in_list_is_printed_and_test_says_why_and_tells_by_its_exit_code(holdfast):
    text, value = holdfast("reserved", "list"), holdfast("reserved", "list", "--json")
    assert text.code == value.code == Exit.OK
    assert text.out.split() == value.value == sorted(value.value)
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
    mine.chmod(0o640)
    assert holdfast("reserved", "add", "Beta", **files).out == "beta is reserved\n"
    assert holdfast("reserved", "add", "beta", "--json", **files).value == {"name": "beta", "reserved": True}
    assert mine.read_text() == "# ours\nalpha # since 2024\nbeta\n"
    assert mine.stat().st_mode & 0o777 == 0o640
    assert holdfast("reserved", "remove", "alpha", **files).out == "alpha is free to choose\n"
    assert mine.read_text() == "# ours\nbeta\n"
    made = holdfast("reserved", "remove", "postmaster", "--json", **files)  # which the built-in list has
    assert (made.code, made.value) == (Exit.OK, {"name": "postmaster", "reserved": False})
    assert holdfast("reserved", "test", "postmaster", **files).code == Exit.FAILED
    assert holdfast("reserved", "add", "postmaster", **files).code == Exit.OK
    assert holdfast("reserved", "test", "postmaster", **files).code == Exit.OK
    assert {*tmp_path.iterdir()} == {allowed, mine}


def test_without_a_file_to_write_the_setting_is_named(holdfast):
    added, removed = holdfast("reserved", "add", "ann", "--json"), holdfast("reserved", "remove", "postmaster")
    assert added.code == removed.code == Exit.CONFIGURATION
    assert added.error["error"].startswith("HOLDFAST_RESERVED_FILE is not set")
    assert "HOLDFAST_RESERVED_ALLOW_FILE is not set" in removed.err


@pytest.mark.parametrize("word", ["list", "test", "add", "remove"])
@pytest.mark.parametrize("content", [None, b"not a handle\n", b"\xff\xfe\n"], ids=["missing", "no handle", "no text"])
def test_a_file_that_cannot_be_used_exits_3_in_one_line(holdfast, tmp_path, word, content):
    """But `add` works with an invalid line in the file, and `remove` finds nothing to remove in a file that is missing."""
    file = tmp_path / "x" / "mine.txt" if content is None else tmp_path / "mine.txt"
    if content:
        file.write_bytes(content)
    answer = holdfast("reserved", word, *([] if word == "list" else ["ann"]), reserved_file=str(file))
    harmless = {("add", b"not a handle\n"), ("remove", None)}
    assert answer.code == (Exit.OK if (word, content) in harmless else Exit.CONFIGURATION)
    assert len(answer.err.splitlines()) == (answer.code != Exit.OK)


@pytest.mark.parametrize(("word", "name"), [("test", ""), ("add", "a\u202eb"), ("remove", "x" * 65)])
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
