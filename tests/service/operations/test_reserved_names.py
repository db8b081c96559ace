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


def test_a_file_that_is_rewritten_or_replaced_leaves_the_list_in_force_until_it_is_whole(file, names):
    for text in ("", "be"):  # truncated, then half written
        file.write_text(text)
        assert not names.refresh() and held(names) == {"alpha"}
    file.write_text("beta\n")
    assert not names.refresh() and held(names) == {"alpha"}
    assert names.refresh() and held(names) == {"beta"}
    assert not names.refresh(), "nothing changed"
    other = file.with_suffix(".new")
    other.write_text("alpha\n")
    other.replace(file)
    assert [names.refresh(), names.refresh(), held(names)] == [False, True, {"alpha"}]
    file.write_text("beta\n")
    assert names.refresh(force=True) and held(names) == {"beta"}, "a signal reads at once"


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_changes_while_it_is_read_is_read_again(file, names, monkeypatch, force):
    """The list was read as empty just before `beta` was written."""
    read = type(file).read_text

    def rewriting(path, *given):
        text = read(path, *given)
        if path == file:
            file.write_text("beta\n")
        return text

    file.write_text("")
    names.refresh()
    with monkeypatch.context() as changing:
        changing.setattr(type(file), "read_text", rewriting)
        assert not names.refresh(force=force) and held(names) == {"alpha"}
    assert [names.refresh(), names.refresh(), held(names)] == [False, True, {"beta"}]


def test_an_invalid_file_is_logged_once_and_changes_nothing(file, names, caplog):
    file.write_text("not a handle\n")
    for _ in range(4):
        assert not names.refresh()
    assert [record.message for record in caplog.records] == ["reserved list not re-read"]
    assert held(names) == {"alpha"}
