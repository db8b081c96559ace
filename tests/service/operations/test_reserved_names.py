"""The list of reserved names follows the operator's files, and never one that is only half written."""

import pytest

from holdfast.service.operations.reserved_names import ReservedNames


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "reserved.txt"
    file.write_text("alpha\n")
    return file


@pytest.fixture
def names(file):
    return ReservedNames(file, None)


def held(names):
    return {name for name in ("alpha", "beta") if name in names.current().names}


def test_a_file_that_is_rewritten_in_place_leaves_the_list_in_force_until_it_is_whole(file, names):
    for text in ("", "be"):  # truncated, then half written
        file.write_text(text)
        assert not names.refresh() and held(names) == {"alpha"}
    file.write_text("beta\n")
    assert not names.refresh() and held(names) == {"alpha"}
    assert names.refresh() and held(names) == {"beta"}
    assert not names.refresh(), "nothing changed"


def test_a_file_that_another_replaces_is_read_as_well_and_a_signal_reads_at_once(file, names):
    other = file.with_suffix(".new")
    other.write_text("beta\n")
    other.replace(file)
    assert [names.refresh(), names.refresh(), held(names)] == [False, True, {"beta"}]
    file.write_text("alpha\n")
    assert names.refresh(force=True) and held(names) == {"alpha"}


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, file, force):
    """Reading the second file changes the first, which was read just before."""

    class Rewriting(type(file)):
        writes = 0

        def read_text(self, *given):
            if self.writes:
                file.write_text("beta\n")
            return super().read_text(*given)

    allowed = Rewriting(tmp_path / "allowed.txt")
    allowed.write_text("")
    names = ReservedNames(file, allowed)
    file.write_text("")
    names.refresh()
    Rewriting.writes = 1
    assert not names.refresh(force=force) and held(names) == {"alpha"}
    Rewriting.writes = 0
    assert [names.refresh(), names.refresh(), held(names)] == [False, True, {"beta"}]


def test_an_invalid_file_is_logged_once_and_changes_nothing(file, names, caplog):
    file.write_text("not a handle\n")
    for _ in range(4):
        assert not names.refresh()
    assert [record.message for record in caplog.records] == ["reserved list not re-read"]
    assert held(names) == {"alpha"}
